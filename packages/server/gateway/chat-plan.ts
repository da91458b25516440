import type { CatalogModel, ChatRequest, ClientDialect, Provider, SourceBody } from '@rideau/llm/spec'
import type { Alias, AliasTarget, Credential } from '../core/tenancy.ts'
import type { Refusal } from '../core/verdict.ts'
import type { Amounts } from '../ledger/ledger.ts'
import type { ChatCall } from './surfaces/native-chat.ts'

/** One model that may answer, with everything that a try at it takes. */
export interface PlannedTarget {
  readonly provider: Provider
  /** The format in which this request goes to it; a provider may speak several. */
  readonly dialect: ClientDialect
  /** As the provider knows it. */
  readonly model: string
  /** `provider/model`, as callers see it. */
  readonly id: string
  /** undefined: known by name only, so capabilities are permissive and the price is unknown. */
  readonly catalogModel: CatalogModel | undefined
  /** Oldest first; never empty. */
  readonly credentials: readonly Credential[]
  /** What is asked of it: the caller's request, with a lower output cap where the key's bound needs one. */
  readonly request: ChatRequest
  /** Parameters left out because the environment says `drop`. */
  readonly dropped: readonly string[]
  /** What an alias says of this target. */
  readonly alias: AliasTarget | undefined
}

/** Everything that is decided before a provider is called. */
export interface ChatPlan {
  readonly call: ChatCall
  readonly source: SourceBody
  /** In the order in which they are tried; never empty. More than one only where an alias was named. */
  readonly targets: readonly PlannedTarget[]
  readonly alias: Alias | undefined
  /** What is held of limits of tokens and money; absent: none concerns the request. */
  readonly held?: HeldOutput
}

/** The output that a request holds, of all choices together. */
export interface HeldOutput {
  readonly inputTokens: number
  readonly outputTokens: number
  /** It never has more: what the targets keep to. */
  readonly mostOutputTokens: number
  /** The targets are asked for no more than is held. */
  readonly isCapped: boolean
  /** What so much output takes of the limits, with the input. */
  toAmounts(outputTokens: number): Amounts
}

export type TargetPlan = PlannedTarget | { readonly refusal: Refusal }

/** Plain answers and streams come at different paces, and environments have accounts of their own. */
export function latencyKey(environmentId: string, modelId: string, isStream: boolean): string {
  return `${environmentId}/${isStream ? 'stream' : 'plain'}/${modelId}`
}
