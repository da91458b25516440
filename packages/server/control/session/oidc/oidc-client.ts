import * as client from 'openid-client'
import type { Clock } from '../../../core/clock.ts'

/** The operator's settings for sign-in by OpenID Connect, besides passwords. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Allows an issuer without TLS, for development. */
  readonly allowInsecure: boolean
}

/** What the callback needs to know about the sign-in it completes. */
export interface PendingSignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The identity according to the issuer. */
export interface OidcPerson {
  readonly issuer: string
  readonly subject: string
  /** The address in lower case; undefined if the issuer has not verified it. */
  readonly verifiedEmail: string | undefined
  readonly name: string | undefined
}

export interface OidcClient {
  /** Returns the address to send the browser to. Rejects if the issuer cannot be reached. */
  begin(redirectUri: string): Promise<{ url: URL; pending: PendingSignIn }>
  /**
   * Completes the sign-in. `callback` is the address that the browser returned to. Rejects if any part of it is invalid.
   */
  finish(callback: URL, pending: PendingSignIn): Promise<OidcPerson>
}

/** How long the issuer's metadata is cached, because its addresses may change. The library itself refreshes the keys. */
const METADATA_MS = 3_600_000
const TIMEOUT_SECONDS = 10

/** Creates a client for the authorization code flow with PKCE, state and nonce. */
export function openOidcClient(settings: OidcSettings, clock: Clock): OidcClient {
  let known: { config: Promise<client.Configuration>; until: number } | undefined
  const configure = (): Promise<client.Configuration> => {
    if (known !== undefined && known.until > clock.now()) return known.config
    const config = discover(settings)
    const fresh = { config, until: clock.now() + METADATA_MS }
    known = fresh
    config.catch(() => {
      if (known === fresh) known = undefined
    })
    return config
  }
  return {
    async begin(redirectUri) {
      const config = await configure()
      const pending = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      })
      return { url, pending }
    },
    async finish(callback, pending) {
      const tokens = await client.authorizationCodeGrant(await configure(), callback, {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the issuer gave no ID token')
      const { email, email_verified: isVerified, name } = claims
      // Some issuers send the claim as a string.
      const vouched = isVerified === true || isVerified === 'true'
      return {
        issuer: claims.iss,
        subject: claims.sub,
        verifiedEmail: vouched && typeof email === 'string' ? email.trim().toLowerCase() : undefined,
        name: typeof name === 'string' ? name : undefined,
      }
    },
  }
}

async function discover(settings: OidcSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, allowInsecure } = settings
  // Signatures are checked even if the token came directly from the issuer.
  const execute = [client.enableNonRepudiationChecks]
  if (allowInsecure) execute.push(client.allowInsecureRequests)
  return await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    execute,
    timeout: TIMEOUT_SECONDS,
  })
}
