import { createLocalJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { isEndUserId, isReservedEndUserId } from '../core/end-users.ts'
import type { ClaimValue, FederatedConfig } from '../core/federated-config.ts'
import type { KeySets } from './key-sets.ts'

/** Who a token says it is. The reason of a refusal is for the project's administrators, never for who sent the token. */
export type Identity =
  | { readonly valid: true; readonly endUserId: string; readonly plan: string | null }
  | { readonly valid: false; readonly reason: string }

const MAX_TOKEN_LENGTH = 16 * 1024
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const MAX_PLAN_LENGTH = 64
const DAY_SECONDS = 24 * 3600

class Refusal extends Error {}

/**
 * Verifies an identity provider's token: jose's checks, and those that it leaves open (a token of another kind, one that
 * is too old or lives too long, a user id that is none). `now` in Unix milliseconds.
 */
export async function verifyIdentityToken(
  token: string,
  config: FederatedConfig,
  keySets: KeySets,
  now: number,
): Promise<Identity> {
  try {
    const payload = await verifySignature(token, config, keySets, now)
    checkTimes(payload, config, Math.floor(now / 1000))
    checkParty(payload, config)
    checkRequiredClaims(payload, config)
    return { valid: true, endUserId: readUserId(payload, config), plan: readPlan(payload, config) }
  } catch (error) {
    if (error instanceof Refusal) return { valid: false, reason: error.message }
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
  if (token.length > MAX_TOKEN_LENGTH) throw new Refusal(`It is longer than ${MAX_TOKEN_LENGTH} characters.`)
  if (!COMPACT.test(token)) throw new Refusal('It is not a JSON Web Token in its compact form.')
  // Not yet verified: it only says whose keys to verify with.
  const { iss } = decodeJwt(token)
  const keys = typeof iss === 'string' ? keySets.get(iss) : undefined
  if (keys === undefined) throw new Refusal('Its iss is not a configured issuer.')
  const { audiences } = config
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
    algorithms: [...config.algorithms],
    issuer: [...config.issuers],
    ...(audiences.length === 0 ? {} : { audience: [...audiences] }),
    clockTolerance: config.clockToleranceSeconds,
    currentDate: new Date(now),
    requiredClaims: ['exp', 'iat'],
  })
  // An access or a logout token, also one of ours, is no identity token.
  const { typ } = protectedHeader
  if (typ !== undefined && typ.toUpperCase() !== 'JWT') throw new Refusal('Its header typ is not JWT.')
  return payload
}

function checkTimes(payload: JWTPayload, config: FederatedConfig, nowSeconds: number): void {
  const { iat, exp } = payload
  if (typeof iat !== 'number' || typeof exp !== 'number') throw new Refusal('Its iat is not a number.')
  const { clockToleranceSeconds: tolerance, maxTokenAgeSeconds: maxAge } = config
  if (iat > nowSeconds + tolerance) throw new Refusal('Its iat lies in the future.')
  if (nowSeconds - iat > maxAge + tolerance) throw new Refusal('It is older than max_token_age_seconds.')
  if (exp - iat > Math.max(maxAge, DAY_SECONDS)) {
    throw new Refusal('It lives for more than a day and for more than max_token_age_seconds.')
  }
}

/** `azp`, or `client_id` where an access token names its client so. */
function checkParty(payload: JWTPayload, { authorizedParties }: FederatedConfig): void {
  if (authorizedParties.length === 0) return
  const party = ownClaim(payload, 'azp') ?? ownClaim(payload, 'client_id')
  if (typeof party !== 'string' || !authorizedParties.includes(party)) {
    throw new Refusal('Its azp is not one of authorized_parties.')
  }
}

function checkRequiredClaims(payload: JWTPayload, { requiredClaims }: FederatedConfig): void {
  for (const [name, allowed] of Object.entries(requiredClaims)) {
    const claim = ownClaim(payload, name)
    const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
    if (!values.some(value => allowed.includes(value as ClaimValue))) {
      throw new Refusal(`Its claim ${name} is not what required_claims asks for.`)
    }
  }
}

function readUserId(payload: JWTPayload, { userIdClaim }: FederatedConfig): string {
  const id = ownClaim(payload, userIdClaim)
  if (typeof id !== 'string' || !isEndUserId(id)) {
    throw new Refusal(`Its claim ${userIdClaim} is not a user id of 1 to 255 characters.`)
  }
  if (isReservedEndUserId(id)) throw new Refusal(`Its claim ${userIdClaim} has a reserved prefix.`)
  return id
}

function readPlan(payload: JWTPayload, { planClaim }: FederatedConfig): string | null {
  const plan = planClaim === null ? undefined : ownClaim(payload, planClaim)
  if (plan === undefined || plan === null) return null
  if (typeof plan !== 'string' || plan === '' || plan.length > MAX_PLAN_LENGTH) {
    throw new Refusal(`Its claim ${planClaim} is not a plan's name.`)
  }
  return plan
}

/** Claims are the token's own: no name reaches what every object inherits. */
function ownClaim(payload: JWTPayload, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined
}

function toReason(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'It has expired.'
  if (error instanceof errors.JWTClaimValidationFailed) return `Its claim ${error.claim} is missing or wrong.`
  if (error instanceof errors.JWKSNoMatchingKey) return 'No key of the key set is the one that it names.'
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return 'Several keys of the key set fit: it needs a kid.'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'It is signed by an algorithm that is not allowed.'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'Its signature is wrong.'
  return 'It is not a valid JSON Web Token.'
}
