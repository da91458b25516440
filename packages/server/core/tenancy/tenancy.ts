import type { JsonObject } from '@rideau/llm/json/json-value'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { DeviceAuth } from './device-auth.ts'
import type { FederatedConfig } from './federated-config.ts'
import type { Policies } from './policies.ts'

/**
 * The tenant snapshot that requests read. Snapshots are immutable: a change to the configuration creates a new one, and no
 * request writes to it.
 */

export type EnvironmentName = 'development' | 'production'

export interface Credential {
  readonly id: string
  readonly provider: string
  /** The provider key in plain text, in memory only. */
  readonly apiKey: string
  readonly baseUrl: string | null
  readonly options: JsonObject
  readonly weight: number
  readonly createdAt: number
  /** When a member last changed it, in Unix milliseconds. */
  readonly updatedAt: number
  /** The models that the provider listed when the credential was last validated. */
  readonly discovered: ReadonlySet<string>
}

export const ALIAS_STRATEGIES = ['priority', 'weighted', 'lowest_latency', 'lowest_cost'] as const
export type AliasStrategy = (typeof ALIAS_STRATEGIES)[number]

export interface AliasTarget {
  /** `provider/model` or a bare name; never another alias. */
  readonly model: string
  /** null: 1. */
  readonly weight: number | null
  /** Timeout of one attempt in milliseconds; null: the request's. */
  readonly timeoutMs: number | null
  /** The most retries at this target; null: limited by the request's attempts only. */
  readonly maxRetries: number | null
}

/** An environment's own name for one or several models. */
export interface Alias {
  readonly name: string
  readonly strategy: AliasStrategy
  /** The targets in the order of their priority; never empty. */
  readonly targets: readonly AliasTarget[]
}

export interface Environment {
  readonly id: string
  readonly orgId: string
  readonly projectId: string
  readonly name: EnvironmentName
  readonly logCapture: 'full' | 'metadata'
  /** null: every model. */
  readonly allowedModels: readonly string[] | null
  readonly unsupportedParams: 'refuse' | 'drop'
  readonly onClientGone: 'cancel' | 'drain'
  readonly allowSecretKeyInBrowser: boolean
  /** True if client tokens may send `provider_options` and fields that the gateway only passes through. */
  readonly allowClientPassthrough: boolean
  /** The project's browser origins. */
  readonly allowedOrigins: readonly string[]
  /** Oldest first. */
  readonly credentials: readonly Credential[]
  /** By name. */
  readonly aliases: ReadonlyMap<string, Alias>
  /** By `provider/model`. They override the catalogue in this environment. */
  readonly customModels: ReadonlyMap<string, CatalogModel>
  /** How tokens of the project's identity provider are verified; null: they are not accepted. */
  readonly federatedAuth: FederatedConfig | null
  /** The project's apps on devices; null: devices are not accepted. */
  readonly deviceAuth: DeviceAuth | null
  /** The limits, quotas, budgets and plans that can apply to a request. */
  readonly policies: Policies
  /** True if its project or organization was deleted, which revokes every key. */
  readonly deleted: boolean
}

export type KeyKind = 'secret' | 'publishable'
export const SCOPES = ['ai.chat', 'ai.embed', 'ai.images', 'feedback'] as const
export type Scope = (typeof SCOPES)[number]
export const ENDPOINTS = [
  'chat',
  'embeddings',
  'images',
  'audio',
  'client_tokens',
  'device',
  'feedback',
] as const
export type Endpoint = (typeof ENDPOINTS)[number]

/** What a credential permits. */
export interface Rights {
  readonly scopes: readonly Scope[]
  /** null: every model. Entries are ids, aliases or `provider/*`. */
  readonly allowedModels: readonly string[] | null
  /** null: every endpoint. */
  readonly allowedEndpoints: readonly Endpoint[] | null
  readonly maxRequestCostNanoUsd: number | null
}

/** When a credential becomes invalid. Unix milliseconds; null: never. */
export interface Lifetime {
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** A key and its environment. */
export interface Key extends Rights, Lifetime {
  readonly id: string
  /** The first of the keys that replaced one another; its own id if it replaced none. Limits count all of them together. */
  readonly originalId: string
  readonly kind: KeyKind
  readonly environmentId: string
}

/** The source of a client token's rights: the key that minted it, or the member who made it for itself. */
export interface TokenMinter extends Lifetime {
  /** null: a member. */
  readonly originalKeyId: string | null
  readonly rights: Rights
}

/** The end user of a request. */
export interface EndUser {
  /** The id that its backend or identity provider uses, or `device:<hash>`, `member:<id>`. */
  readonly id: string
  /** Name of the plan that is set for it, in storage or in its token; null: the default plan applies. */
  readonly plan: string | null
  readonly isBlocked: boolean
}

/** Who calls the gateway. A client token has its own scopes; its other rights are those of its minter. */
export interface Caller extends Rights {
  readonly kind: KeyKind | 'client_token'
  /** The key that was sent, or that minted the token; null: a member's own token, which no key minted. */
  readonly keyId: string | null
  /** The key that limits name and count in the place of that key (Key.originalId). */
  readonly originalKeyId: string | null
  /** The end user of a client token; null: a key, whose requests may each name an end user. */
  readonly endUser: EndUser | null
}

export function toCaller(key: Key): Caller {
  const {
    kind,
    id: keyId,
    originalId: originalKeyId,
    scopes,
    allowedModels,
    allowedEndpoints,
    maxRequestCostNanoUsd,
  } = key
  const rights = { scopes, allowedModels, allowedEndpoints, maxRequestCostNanoUsd }
  return { kind, keyId, originalKeyId, endUser: null, ...rights }
}
