import type { JsonObject } from '@rideau/llm/json/json-value'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Policies } from './policies.ts'

/**
 * What the gateway knows of a tenant while it serves a request. Snapshots are immutable: a change makes a new one,
 * and no request ever writes one back.
 */

export type EnvironmentName = 'development' | 'production'

export interface Credential {
  readonly id: string
  readonly provider: string
  /** The provider key in the clear: lives in memory only. */
  readonly apiKey: string
  readonly baseUrl: string | null
  readonly options: JsonObject
  readonly weight: number
  readonly createdAt: number
  /** What the provider's own list named when the credential was last validated. */
  readonly discovered: ReadonlySet<string>
}

export const ALIAS_STRATEGIES = ['priority', 'weighted', 'lowest_latency', 'lowest_cost'] as const
export type AliasStrategy = (typeof ALIAS_STRATEGIES)[number]

export interface AliasTarget {
  /** `provider/model` or a bare name; never another alias. */
  readonly model: string
  /** null: 1. */
  readonly weight: number | null
  /** Milliseconds for one try; null: as the request says. */
  readonly timeoutMs: number | null
  /** Tries again at this very target, at most; null: what the request's one counter leaves. */
  readonly maxRetries: number | null
}

/** A name of an environment's own for one of several models. */
export interface Alias {
  readonly name: string
  readonly strategy: AliasStrategy
  /** In the order of their priority; never empty. */
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
  /** May client tokens send provider_options, and fields that the compat surface only passes on? */
  readonly allowClientPassthrough: boolean
  /** The project's browser origins. */
  readonly allowedOrigins: readonly string[]
  /** Oldest first. */
  readonly credentials: readonly Credential[]
  /** By name. */
  readonly aliases: ReadonlyMap<string, Alias>
  /** By `provider/model`: they override the catalogue here. */
  readonly customModels: ReadonlyMap<string, CatalogModel>
  /** Limits, quotas, budgets and plans that can concern a request here. */
  readonly policies: Policies
  /** Its project or organization was deleted: every key below is revoked. */
  readonly deleted: boolean
}

export type KeyKind = 'secret' | 'publishable'
export const SCOPES = ['ai.chat', 'ai.embed', 'ai.images', 'feedback'] as const
export type Scope = (typeof SCOPES)[number]
export const ENDPOINTS = ['chat', 'embeddings', 'images', 'client_tokens', 'device', 'feedback'] as const
export type Endpoint = (typeof ENDPOINTS)[number]

/** What a credential lets its holder do. */
export interface Rights {
  readonly scopes: readonly Scope[]
  /** null: every model. Entries are ids, aliases or `provider/*`. */
  readonly allowedModels: readonly string[] | null
  /** null: every endpoint. */
  readonly allowedEndpoints: readonly Endpoint[] | null
  readonly maxRequestCostNanoUsd: number | null
}

/** Until when a credential is one. Unix milliseconds; null: never. */
export interface Life {
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** A key and the environment that it opens. */
export interface Key extends Rights, Life {
  readonly id: string
  readonly kind: KeyKind
  readonly environmentId: string
}

/** Whose rights a client token carries: the key that minted it, or the member who made it for itself. */
export interface TokenMinter extends Life {
  readonly rights: Rights
}

/** On whose behalf a request is made. */
export interface EndUser {
  /** As its backend or identity provider names it; `device:<hash>`, `member:<id>`. */
  readonly id: string
  /** Name of the plan that was set for it, here or in its token; null: the default plan counts. */
  readonly plan: string | null
  readonly isBlocked: boolean
}

/** Who calls the gateway. Of a client token the rights are its own scopes and what else its minting key may. */
export interface Caller extends Rights {
  readonly kind: KeyKind | 'client_token'
  /** The key that was sent, or that minted the token; null: a member's own token, which no key minted. */
  readonly keyId: string | null
  /** A client token's one and only; null: a key, which may name one with each request. */
  readonly endUser: EndUser | null
}

export function toCaller(key: Key): Caller {
  const { kind, id: keyId, scopes, allowedModels, allowedEndpoints, maxRequestCostNanoUsd } = key
  return { kind, keyId, endUser: null, scopes, allowedModels, allowedEndpoints, maxRequestCostNanoUsd }
}
