import { parseUrl } from '@rideau/llm/request/bounded-url'
import { SignJWT } from 'jose'
import { parseRsaPrivateKey } from './private-key.ts'
import { requestToken, toFailure } from './request-token.ts'
import type { ExchangedCredential, ExchangeOptions, TokenResult } from './token-exchange.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TOKEN_URL = 'https://oauth2.googleapis.com/token'
/** The values in keys that Google issues; older keys have the second. Another host must not receive a signed assertion. */
const TOKEN_URLS: ReadonlySet<string> = new Set([TOKEN_URL, 'https://accounts.google.com/o/oauth2/token'])
const LIFETIME_S = 3600

interface ServiceAccount {
  readonly email: string
  readonly privateKey: string
  readonly keyId: string | undefined
  readonly tokenUrl: string
}

/**
 * Exchanges the JSON key of a Google service account for an access token: signs a JWT with the key and posts it to the
 * key's `token_uri` (RFC 7523; developers.google.com/identity/protocols/oauth2/service-account).
 */
export async function exchangeServiceAccount(
  { apiKey }: ExchangedCredential,
  options: ExchangeOptions,
): Promise<TokenResult> {
  const account = parseServiceAccount(apiKey)
  if (typeof account === 'string') return toFailure('auth', account)
  if (!options.policy.allowPrivate && !TOKEN_URLS.has(account.tokenUrl)) {
    return toFailure('auth', 'the token_uri of this service account is not an address of Google')
  }
  const key = parseRsaPrivateKey(account.privateKey)
  if (key === undefined) {
    return toFailure(
      'auth',
      'the private_key of this service account is not PEM of PKCS #8 with an RSA key of 2048 to 4096 bits',
    )
  }
  const issuedAt = Math.floor(options.now / 1000)
  let assertion: string
  try {
    assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({
        alg: 'RS256',
        typ: 'JWT',
        ...(account.keyId === undefined ? {} : { kid: account.keyId }),
      })
      .setIssuer(account.email)
      .setAudience(account.tokenUrl)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_S)
      .sign(key)
  } catch {
    return toFailure('auth', 'the private_key of this service account cannot be used')
  }
  return await requestToken(account.tokenUrl, { grant_type: GRANT, assertion }, options)
}

/** The parsed key, or what is wrong with it. The message repeats nothing of the key. */
function parseServiceAccount(document: string): ServiceAccount | string {
  let fields: Record<string, unknown>
  try {
    const value: unknown = JSON.parse(document)
    if (typeof value !== 'object' || value === null) return 'the key is not the JSON of a service account'
    fields = value as Record<string, unknown>
  } catch {
    return 'the key is not the JSON of a service account'
  }
  const { client_email: email, private_key: privateKey, private_key_id: keyId, token_uri: tokenUri } = fields
  if (typeof email !== 'string' || typeof privateKey !== 'string') {
    return 'the key is not the JSON of a service account: client_email or private_key is missing'
  }
  const tokenUrl = tokenUri === undefined ? TOKEN_URL : tokenUri
  if (typeof tokenUrl !== 'string' || parseUrl(tokenUrl) === undefined) return 'the token_uri is not a URL'
  return { email, privateKey, keyId: typeof keyId === 'string' ? keyId : undefined, tokenUrl }
}
