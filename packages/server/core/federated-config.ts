/** What a project says of its identity provider (contract.md §4 "federated auth"). */
export interface FederatedConfig {
  /** Compared with `iss` to the letter. */
  readonly issuers: readonly string[]
  /** Of these two one is empty: a token must name one of the other's. */
  readonly audiences: readonly string[]
  readonly authorizedParties: readonly string[]
  /** null: found by OpenID discovery at each issuer. */
  readonly jwksUrl: string | null
  readonly algorithms: readonly SigningAlgorithm[]
  readonly userIdClaim: string
  readonly planClaim: string | null
  /** Each claim must have one of its values. */
  readonly requiredClaims: Readonly<Record<string, readonly ClaimValue[]>>
  readonly clockToleranceSeconds: number
  readonly maxTokenAgeSeconds: number
}

export type ClaimValue = string | number | boolean

/** Asymmetric ones only: who verifies by a shared secret could sign as well. */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number]
