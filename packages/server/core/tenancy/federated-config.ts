/** A project's settings for tokens of its identity provider. */
export interface FederatedConfig {
  /** Whose share of caches and fetches its requests use. */
  readonly orgId?: string
  /** Compared with `iss` exactly. */
  readonly issuers: readonly string[]
  /** One of the two lists is empty. A token must name an entry of the other. */
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

/** Asymmetric algorithms only: with a shared secret, every verifier of tokens could also sign them. */
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

/** The names of the setting `EdDSA` in a header and a key. RFC 9864 has deprecated the first; providers use either. */
export const ED25519_NAMES = ['EdDSA', 'Ed25519'] as const
