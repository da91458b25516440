import type { Scope } from './client-token.ts'
import { isRideauError } from './errors.ts'
import { fixedCredential } from './fixed-credential.ts'
import type { TokenSource } from './token-cache.ts'

export interface IdentityTokenOptions {
  readonly publishableKey: string
  /**
   * Returns the ID token of the signed-in user. With `renew` the gateway refused the last one: ask the identity provider for a
   * fresh one instead of returning a stored one.
   */
  readonly getIdentityToken: (context: {
    readonly renew: boolean
    readonly signal: AbortSignal
  }) => Promise<string>
  readonly scopes: readonly Scope[]
  /** From 1 to 3,600; 900 by default. */
  readonly ttlSeconds?: number
  /** Kept with the end user; up to 4,096 bytes. */
  readonly attributes?: Readonly<Record<string, unknown>>
}

/** Client tokens for a token of the project's identity provider. No backend and no secret is needed. */
export function fromIdentityToken(options: IdentityTokenOptions): TokenSource {
  const { publishableKey, getIdentityToken, scopes, ttlSeconds, attributes } = options
  const credential = fixedCredential(publishableKey)
  return {
    async mint({ gatewayUrl, transport, signal }) {
      const url = `${gatewayUrl}/v1/client-tokens`
      const mint = async (renew: boolean): Promise<unknown> => {
        const json = {
          identity_token: await getIdentityToken({ renew, signal }),
          scopes,
          ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
          ...(attributes === undefined ? {} : { end_user: { attributes } }),
        }
        return transport.callJson({ method: 'POST', url, json }, credential, { signal })
      }
      try {
        return await mint(false)
      } catch (error) {
        // Most often the app had a stored token that has expired.
        if (!isRideauError(error, 'invalid_identity_token')) throw error
        return mint(true)
      }
    },
  }
}
