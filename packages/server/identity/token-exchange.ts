import type { Target } from '@rideau/llm/upstream/target'
import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'
import type { EgressPolicy } from '../http/egress.ts'

/** A short-lived token that a stored credential was exchanged for. */
export interface AccessToken {
  readonly token: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

export type TokenAnswer =
  | { readonly ok: true; readonly value: AccessToken }
  | { readonly ok: false; readonly error: UpstreamError }

/** The credential that is exchanged. */
export type ExchangedCredential = Pick<Target, 'provider' | 'apiKey' | 'options'>

export interface ExchangeOptions {
  readonly policy: EgressPolicy
  /** Unix milliseconds. */
  readonly now: number
}

/** Asks a provider's token endpoint. Never rejects: what goes wrong is a classified error. */
export type TokenExchange = (
  credential: ExchangedCredential,
  options: ExchangeOptions,
) => Promise<TokenAnswer>
