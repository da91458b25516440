/** The cause of a provider's error. Providers use the same status for different causes, so the status alone does not tell. */
export type UpstreamErrorKind =
  | 'rate_limited'
  | 'overloaded'
  | 'quota'
  | 'auth'
  | 'context_length'
  | 'content_filter'
  | 'model_not_found'
  | 'bad_request'
  | 'unavailable'
  | 'timeout'
  | 'interrupted'

export interface UpstreamError {
  readonly kind: UpstreamErrorKind
  readonly status?: number
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs?: number
  /** The provider's own word (`x-should-retry`), which overrides what the kind says. */
  readonly shouldRetry?: boolean
  /** The gateway's own word: another attempt fails too, whatever its target and credential. */
  readonly isFinal?: true
  /** The provider's own words: for the server's log only, never for a caller. */
  readonly detail: string
  /** The text that the provider's error has as its message, uncut and with whatever secrets it repeats; absent: none. */
  readonly message?: string
}
