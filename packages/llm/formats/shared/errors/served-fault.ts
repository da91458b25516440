/** The ten types of the error envelope. */
export type FaultType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'idempotency_error'
  | 'budget_error'
  | 'rate_limit_error'
  | 'quota_error'
  | 'provider_error'
  | 'internal_error'

/** A failure as formats write it for callers. */
export interface ServedFault {
  /** The stable identifier, such as `model_not_found`. */
  readonly code: string
  readonly type: FaultType
  /** HTTP status. */
  readonly status: number
  /** Public: it names no host, no key and nothing of a provider's body. */
  readonly message: string
  /** What the provider itself said of a request that it refused, for callers who may read it; undefined: nothing. */
  readonly providerMessage?: string | undefined
  /** The offending field as a path; undefined: none. */
  readonly param: string | undefined
  /** Whole seconds after which the same call may pass; undefined: no wait helps, or the time is unknown. */
  readonly retryAfterSeconds: number | undefined
}

/** Returns the field of an error that carries the provider's own message, if it has one. */
export function toProviderField({ providerMessage }: ServedFault): { provider_message?: string } {
  return providerMessage === undefined ? {} : { provider_message: providerMessage }
}
