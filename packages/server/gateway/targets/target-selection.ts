import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { Message } from '@rideau/llm/request/message'
import type { Alias, AliasTarget, Credential } from '../../core/tenancy/tenancy.ts'

/** A model that a name resolved to, with what an attempt at it needs. */
export interface ResolvedTarget {
  readonly provider: Provider
  /** The model's id at its provider. */
  readonly model: string
  /** `provider/model`, the id that callers use. */
  readonly id: string
  /** undefined: the model is known by name only. Every capability is assumed, and the price is unknown. */
  readonly catalogModel: CatalogModel | undefined
  /** Oldest first. Never empty. */
  readonly credentials: readonly Credential[]
  /** The alias's settings for this target. */
  readonly alias: AliasTarget | undefined
}

/** The targets to attempt for a request of any kind. */
export interface TargetSelection<T extends ResolvedTarget> {
  /** In the order of attempts. Never empty. More than one only if the request names an alias. */
  readonly targets: readonly T[]
  readonly alias: Alias | undefined
  readonly isStream: boolean
  /** Of a chat: the messages by which a conversation stays with its credential, and what the request refers to. */
  readonly parsed?: {
    readonly request: { readonly messages: readonly Message[] }
    readonly findings: Pick<Findings, 'storedStatePaths' | 'storedReasoning'>
  }
}

/**
 * Returns the key of a target's latency. Plain answers and streams have different latencies, and environments use
 * different accounts.
 */
export function latencyKey(environmentId: string, modelId: string, isStream: boolean): string {
  return `${environmentId}/${isStream ? 'stream' : 'plain'}/${modelId}`
}
