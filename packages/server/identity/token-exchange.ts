import type { Target } from '@rideau/llm/upstream/target'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { EgressPolicy } from '../http/egress/egress.ts'

/** The short-lived token that a stored credential is exchanged for. */
export interface AccessToken {
  readonly token: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

export type TokenResult =
  | { readonly ok: true; readonly value: AccessToken }
  | { readonly ok: false; readonly error: UpstreamError }

/** The stored credential. */
export type ExchangedCredential = Pick<Target, 'provider' | 'apiKey' | 'options'>

export interface ExchangeOptions {
  readonly policy: EgressPolicy
  /** Unix milliseconds. */
  readonly now: number
}

/** Requests an access token from the provider's token endpoint. Never rejects: a failure is a classified error. */
export type TokenExchange = (
  credential: ExchangedCredential,
  options: ExchangeOptions,
) => Promise<TokenResult>
