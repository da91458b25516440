import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Provider } from '@rideau/llm/provider/provider'
import type { Alias, AliasTarget, Credential } from '../../core/tenancy.ts'

/** One model that may answer, as a name was resolved to it. */
export interface ResolvedTarget {
  readonly provider: Provider
  /** As the provider knows it. */
  readonly model: string
  /** `provider/model`, as callers see it. */
  readonly id: string
  /** undefined: known by name only, so capabilities are permissive and the price is unknown. */
  readonly catalogModel: CatalogModel | undefined
  /** Oldest first; never empty. */
  readonly credentials: readonly Credential[]
  /** What an alias says of this target. */
  readonly alias: AliasTarget | undefined
}

/** What is tried for a request, whatever it asks for. */
export interface CallPlan<T extends ResolvedTarget> {
  /** In the order in which they are tried; never empty. More than one only where an alias was named. */
  readonly targets: readonly T[]
  readonly alias: Alias | undefined
  readonly isStream: boolean
}

/** Plain answers and streams come at different paces, and environments have accounts of their own. */
export function latencyKey(environmentId: string, modelId: string, isStream: boolean): string {
  return `${environmentId}/${isStream ? 'stream' : 'plain'}/${modelId}`
}
