import { Fault } from '../../core/fault.ts'
import {
  type ClaimValue,
  type FederatedConfig,
  SIGNING_ALGORITHMS,
} from '../../core/tenancy/federated-config.ts'
import type { AddressPolicy } from '../../http/egress/egress.ts'
import { findUrlObjection } from '../../http/egress/outgoing-url.ts'
import { textField } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

const MAX_ISSUERS = 4
const MAX_CLAIMS = 20
/** Every worker holds them for each environment of the project. */
const MAX_CLAIMS_BYTES = 64 * 1024

// The issuer is compared exactly, so it is not trimmed.
const issuer = z
  .string()
  .max(512, { abort: true })
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
const names = z.array(textField(256)).max(50).nullish()
const claimName = textField(128).nullish()
const claimValue = z.union([textField(256), z.number(), z.boolean()])

const requiredClaims = z
  .record(textField(128), z.union([claimValue, z.array(claimValue).min(1).max(50)]))
  .refine(claims => countBytes(claims) <= MAX_CLAIMS_BYTES, {
    error: ({ input }) =>
      `must have at most ${MAX_CLAIMS_BYTES} bytes as JSON; got ${countBytes(input as object)}`,
  })

/** Runs before any of the claims is checked: each costs some microseconds, and thousands can be sent. */
function checkCount(claims: unknown, context: z.RefinementCtx): unknown {
  if (typeof claims !== 'object' || claims === null || Object.keys(claims).length <= MAX_CLAIMS) return claims
  context.addIssue({ code: 'custom', message: `must name at most ${MAX_CLAIMS} claims` })
  return z.NEVER
}

export const FederatedAuthBody = z
  .strictObject({
    issuer: z.union([issuer, z.array(issuer).min(1).max(MAX_ISSUERS)]),
    audiences: names,
    authorized_parties: names,
    jwks_url: z.string().trim().min(1).max(2048).nullish(),
    algorithms: z.array(z.string()).max(20).nullish(),
    user_id_claim: claimName,
    plan_claim: claimName,
    required_claims: z
      .preprocess(checkCount, requiredClaims)
      .nullish()
      .meta({ description: 'Accepted values by claim: a token must have one of the values of each claim.' }),
    clock_tolerance_seconds: z.int().min(0).max(300).nullish(),
    max_token_age_seconds: z
      .int()
      .min(1)
      .max(365 * 24 * 3600)
      .nullish(),
  })
  .meta({ id: 'FederatedAuthSettings' })

/**
 * Checks what the schema cannot express. Throws 400 `federated_config_invalid`. identity/key-sets.ts checks that the key
 * set works.
 */
export function parseFederatedConfig(
  body: z.output<typeof FederatedAuthBody>,
  egress: AddressPolicy,
): FederatedConfig {
  const issuers = [...new Set([body.issuer].flat())]
  const jwksUrl = body.jwks_url ?? null
  for (const issuer of issuers) assertIssuer(issuer, jwksUrl !== null, egress)
  if (jwksUrl !== null) assertUrl('jwks_url', jwksUrl, egress)
  const audiences = body.audiences ?? []
  const authorizedParties = body.authorized_parties ?? []
  if (audiences.length > 0 === authorizedParties.length > 0) {
    // Without either, a token that the provider issued for any other application would be accepted.
    throw refusal('audiences', 'Set either audiences or authorized_parties, exactly one of them.')
  }
  return {
    issuers,
    audiences,
    authorizedParties,
    jwksUrl,
    algorithms: parseAlgorithms(body.algorithms ?? ['RS256', 'ES256']),
    userIdClaim: body.user_id_claim ?? 'sub',
    planClaim: body.plan_claim ?? null,
    requiredClaims: toRequiredClaims(body.required_claims ?? {}),
    clockToleranceSeconds: body.clock_tolerance_seconds ?? 30,
    maxTokenAgeSeconds: body.max_token_age_seconds ?? 24 * 3600,
  }
}

/**
 * Matches issuers without a scheme, such as `accounts.google.com`. Their keys cannot be discovered, so they need a
 * jwks_url.
 */
const BARE_ISSUER = /^[a-z0-9-]+(\.[a-z0-9-]+)+(\/[\w.~/-]*)?$/i

function assertIssuer(text: string, hasJwksUrl: boolean, egress: AddressPolicy): void {
  if (hasJwksUrl && BARE_ISSUER.test(text)) return
  assertUrl('issuer', text, egress)
  if (text.includes('?')) throw refusal('issuer', 'issuer must not have a query.')
}

function assertUrl(param: string, text: string, egress: AddressPolicy): void {
  const objection = findUrlObjection(text, egress)
  if (objection !== undefined) throw refusal(param, `${param} ${objection}.`)
}

function parseAlgorithms(given: readonly string[]): FederatedConfig['algorithms'] {
  const algorithms = SIGNING_ALGORITHMS.filter(algorithm => given.includes(algorithm))
  if (given.length > 0 && given.every(name => algorithms.some(algorithm => algorithm === name))) {
    return algorithms
  }
  throw refusal('algorithms', `algorithms must be one or more of ${SIGNING_ALGORITHMS.join(', ')}.`)
}

function toRequiredClaims(
  claims: Readonly<Record<string, ClaimValue | ClaimValue[]>>,
): FederatedConfig['requiredClaims'] {
  return Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, [value].flat()]))
}

function countBytes(claims: object): number {
  return Buffer.byteLength(JSON.stringify(claims))
}

function refusal(param: string, message: string): Fault {
  return new Fault('federated_config_invalid', message, { param })
}

export const FederatedAuthTestRequest = z
  .strictObject({
    identity_token: z
      .string()
      .min(1)
      .max(64 * 1024),
  })
  .meta({ id: 'FederatedAuthTestRequest' })
