import { createLocalJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { isEndUserId, isReservedEndUserId } from '../core/tenancy/end-users.ts'
import { type ClaimValue, ED25519_NAMES, type FederatedConfig } from '../core/tenancy/federated-config.ts'
import type { KeySets } from './key-sets.ts'

/** The end user that a token identifies. `reason` is for the project's administrators, never for the token's sender. */
export type IdentityResult =
  | { readonly valid: true; readonly endUserId: string; readonly plan: string | null }
  | {
      readonly valid: false
      readonly reason: string
      /** True if the token names a key that the key set does not have: the provider may have a newer one. */
      readonly hasUnknownKey?: true
    }

const MAX_TOKEN_LENGTH = 16 * 1024
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const MAX_PLAN_LENGTH = 64
const DAY_SECONDS = 24 * 3600

class InvalidTokenError extends Error {}

/**
 * Returns the configuration with the token's own issuer alone, so that another issuer that does not respond prevents nothing.
 * undefined: the token names no configured issuer. Nothing of the token is verified.
 */
export function findOwnConfig(token: string, config: FederatedConfig): FederatedConfig | undefined {
  const issuer = token.length > MAX_TOKEN_LENGTH ? undefined : readIssuer(token)
  if (issuer === undefined || !config.issuers.includes(issuer)) return undefined
  // All issuers share the key set of that address, which is fetched once then.
  return config.jwksUrl === null ? { ...config, issuers: [issuer] } : config
}

function readIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/**
 * Verifies a token of an identity provider and returns its end user, or why it is invalid. `now` is Unix milliseconds.
 * Besides the signature and registered claims it checks what jose does not: the token's type, its age and lifetime, its
 * authorized party, the claims that the configuration requires, and that the user id is one.
 */
export async function verifyIdentityToken(
  token: string,
  config: FederatedConfig,
  keySets: KeySets,
  now: number,
): Promise<IdentityResult> {
  try {
    const payload = await verifySignature(token, config, keySets, now)
    assertTimes(payload, config, Math.floor(now / 1000))
    assertParty(payload, config)
    assertRequiredClaims(payload, config)
    return { valid: true, endUserId: parseUserId(payload, config), plan: parsePlan(payload, config) }
  } catch (error) {
    if (error instanceof InvalidTokenError) return { valid: false, reason: error.message }
    if (error instanceof errors.JWKSNoMatchingKey) {
      return { valid: false, reason: 'The key set has no key with its kid.', hasUnknownKey: true }
    }
    if (error instanceof errors.JOSEError) return { valid: false, reason: toReason(error) }
    throw error
  }
}

async function verifySignature(
  token: string,
  config: FederatedConfig,
  keySets: KeySets,
  now: number,
): Promise<JWTPayload> {
  if (token.length > MAX_TOKEN_LENGTH)
    throw new InvalidTokenError(`It is longer than ${MAX_TOKEN_LENGTH} characters.`)
  if (!COMPACT.test(token)) throw new InvalidTokenError('It is not a JSON Web Token in its compact form.')
  const signature = token.slice(token.lastIndexOf('.') + 1)
  // Base64url has bits that are not part of the signature, and jose ignores them. A token has one spelling.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature)
    throw new InvalidTokenError('Its signature is wrong.')
  // Not verified yet: selects the keys to verify with.
  const { iss } = decodeJwt(token)
  const keys = typeof iss === 'string' ? keySets.get(iss) : undefined
  if (keys === undefined) throw new InvalidTokenError('Its iss is not a configured issuer.')
  const { audiences } = config
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
    algorithms: config.algorithms.flatMap(name => (name === 'EdDSA' ? ED25519_NAMES : [name])),
    issuer: [...config.issuers],
    ...(audiences.length === 0 ? {} : { audience: [...audiences] }),
    clockTolerance: config.clockToleranceSeconds,
    currentDate: new Date(now),
    requiredClaims: ['exp', 'iat'],
  })
  // Rejects access tokens, logout tokens and our own client tokens.
  const typ: unknown = protectedHeader.typ
  if (typ !== undefined && (typeof typ !== 'string' || typ.toUpperCase() !== 'JWT'))
    throw new InvalidTokenError('Its header typ is not JWT.')
  return payload
}

function assertTimes(payload: JWTPayload, config: FederatedConfig, nowSeconds: number): void {
  const { iat, exp } = payload
  if (typeof iat !== 'number' || typeof exp !== 'number')
    throw new InvalidTokenError('Its iat is not a number.')
  const { clockToleranceSeconds: tolerance, maxTokenAgeSeconds: maxAge } = config
  if (iat > nowSeconds + tolerance) throw new InvalidTokenError('Its iat lies in the future.')
  if (nowSeconds - iat > maxAge + tolerance)
    throw new InvalidTokenError('It is older than max_token_age_seconds.')
  if (exp - iat > Math.max(maxAge, DAY_SECONDS)) {
    throw new InvalidTokenError('It lives for more than a day and for more than max_token_age_seconds.')
  }
}

/** The authorized party is `azp`, or `client_id` in an access token. */
function assertParty(payload: JWTPayload, { authorizedParties }: FederatedConfig): void {
  if (authorizedParties.length === 0) return
  const party = ownClaim(payload, 'azp') ?? ownClaim(payload, 'client_id')
  if (typeof party !== 'string' || !authorizedParties.includes(party)) {
    throw new InvalidTokenError('Its azp is not one of authorized_parties.')
  }
}

function assertRequiredClaims(payload: JWTPayload, { requiredClaims }: FederatedConfig): void {
  for (const [name, allowed] of Object.entries(requiredClaims)) {
    const claim = ownClaim(payload, name)
    const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
    if (!values.some(value => allowed.includes(value as ClaimValue))) {
      throw new InvalidTokenError(`Its claim ${name} has none of the values in required_claims.`)
    }
  }
}

function parseUserId(payload: JWTPayload, { userIdClaim }: FederatedConfig): string {
  const id = ownClaim(payload, userIdClaim)
  if (typeof id !== 'string' || !isEndUserId(id)) {
    throw new InvalidTokenError(`Its claim ${userIdClaim} is not a user id of 1 to 255 characters.`)
  }
  if (isReservedEndUserId(id)) throw new InvalidTokenError(`Its claim ${userIdClaim} has a reserved prefix.`)
  return id
}

function parsePlan(payload: JWTPayload, { planClaim }: FederatedConfig): string | null {
  const plan = planClaim === null ? undefined : ownClaim(payload, planClaim)
  if (plan === undefined || plan === null) return null
  if (typeof plan !== 'string' || plan === '' || plan.length > MAX_PLAN_LENGTH) {
    throw new InvalidTokenError(`Its claim ${planClaim} is not a plan's name.`)
  }
  return plan
}

/** A claim of the token; undefined for names that every object inherits. */
function ownClaim(payload: JWTPayload, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined
}

function toReason(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'It has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) return `Its claim ${error.claim} is missing or wrong.`
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'Several keys of the key set fit: the token needs a kid.'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'It is signed with an algorithm that is not allowed.'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'Its signature is wrong.'
  return 'It is not a valid JSON Web Token.'
}
