import { type KeyObject, sign, verify } from 'node:crypto'

/** How the end user was authenticated. `member`: a member of the organization, for its own token in the playground. */
export type TokenMethod = 'secret_key' | 'federated' | 'device' | 'member'

/** The claims of a client token. Times in Unix seconds. */
export interface ClientTokenClaims {
  readonly iss: string
  readonly aud: 'rideau'
  readonly sub: string
  readonly org: string
  readonly prj: string
  readonly env: string
  /** Separated by spaces. */
  readonly scope: string
  /** The plan when the token was made: that of the end user's record, or the one that the backend or the identity provider named. */
  readonly plan: string | null
  /** What they named, where the record has another plan. Absent: `plan` is what they named. */
  readonly named_plan?: string | null
  readonly amr: TokenMethod
  /** The minting key's id; null: a member's. */
  readonly pk: string | null
  readonly ver: 1
  readonly iat: number
  readonly nbf: number
  readonly exp: number
  readonly jti: string
}

export interface TokenSigner {
  /** The public key's RFC 7638 thumbprint. */
  readonly kid: string
  readonly privateKey: KeyObject
}

export const TOKEN_AUDIENCE = 'rideau'

/** The longest lifetime of a token. */
export const MAX_TOKEN_SECONDS = 3600

/** Tolerance for `nbf`, because the clocks of several processes differ a little. */
const CLOCK_SECONDS = 60

/** A real token is shorter than 2 KiB. Longer texts are rejected without a match, in characters. */
const MAX_LENGTH = 8 * 1024

const FORM = /^([A-Za-z0-9_-]{1,512})\.([A-Za-z0-9_-]{1,7000})\.([A-Za-z0-9_-]{86})$/

/** Returns a JWT signed with ES256, in compact form. */
export function signClientToken(claims: ClientTokenClaims, { kid, privateKey }: TokenSigner): string {
  const text = `${encodeHeader(kid)}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

/** Returns the id of the key that a token names in its header; undefined if the text does not have the form of a client token. */
export function readTokenKid(text: string): string | undefined {
  const header = text.length > MAX_LENGTH ? undefined : FORM.exec(text)?.[1]
  if (header === undefined) return undefined
  const { kid } = decode(header)
  // Each key has exactly one valid header, byte for byte: `alg` and `typ` cannot differ, and no field can be added.
  return typeof kid === 'string' && encodeHeader(kid) === header ? kid : undefined
}

/**
 * Returns the claims of a client token; `key_expired` if it has a valid signature and is past its end, `invalid_key` for
 * anything else. `now` in Unix milliseconds. The signature is checked first, so a forged token is always `invalid_key`.
 */
export function verifyClientToken(
  text: string,
  publicKey: KeyObject,
  { issuer, now }: { readonly issuer: string; readonly now: number },
): ClientTokenClaims | 'invalid_key' | 'key_expired' {
  const [, header, payload, signature] = FORM.exec(text) ?? []
  if (header === undefined || payload === undefined || signature === undefined) return 'invalid_key'
  const bytes = Buffer.from(signature, 'base64url')
  // Base64url has bits that are not part of the signature. A token that differs in them only is rejected.
  if (bytes.toString('base64url') !== signature) return 'invalid_key'
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' as const }
  if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, bytes)) return 'invalid_key'
  const claims = decode(payload)
  if (!isClaims(claims) || claims.iss !== issuer) return 'invalid_key'
  const seconds = now / 1000
  if (claims.nbf > seconds + CLOCK_SECONDS || claims.exp - claims.iat > MAX_TOKEN_SECONDS)
    return 'invalid_key'
  return claims.exp <= seconds ? 'key_expired' : claims
}

function isClaims(claims: object): claims is ClientTokenClaims {
  const values = new Map<string, unknown>(Object.entries(claims))
  const areTexts = TEXTS.every(name => typeof values.get(name) === 'string')
  const areTimes = TIMES.every(name => Number.isSafeInteger(values.get(name)))
  const areOptional = ['plan', 'pk'].every(name => isTextOrNull(values.get(name)))
  const isNamed = !values.has('named_plan') || isTextOrNull(values.get('named_plan'))
  const isOurs = values.get('aud') === TOKEN_AUDIENCE && values.get('ver') === 1
  return areTexts && areTimes && areOptional && isNamed && isOurs
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}

const TEXTS = ['iss', 'sub', 'org', 'prj', 'env', 'scope', 'amr', 'jti']
const TIMES = ['iat', 'nbf', 'exp']

function encodeHeader(kid: string): string {
  return encode({ alg: 'ES256', kid, typ: 'ct+jwt' })
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Returns the JSON object in a part of a token, or an empty object, which fails every check. */
function decode(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
