import type { ClientFormat } from '@rideau/llm/formats/shared/client-format'
import type { Findings } from '@rideau/llm/formats/shared/requests/findings'
import {
  findPriceOfType,
  type HostedToolRequest,
  toHostedCost,
} from '@rideau/llm/formats/shared/tools/hosted-tools'
import type { SourceBody } from '@rideau/llm/request/source-body'
import type { Requester } from './requester.ts'
import type { ResolvedTarget } from './target-selection.ts'

/** Uses of a tool in one answer that are reserved if the request names no maximum. No provider states one. */
const USUAL_USES = 5
/** More uses are not reserved, whatever the request allows. */
const MAX_USES = 100
/** Input tokens that one use adds, such as the pages that a search found. */
const TOKENS_A_USE = 8_000

/** Tools that one target may run for a request. */
export interface GrantedTools {
  /** Types of tools that are sent. */
  readonly types: ReadonlySet<string>
  /** What their uses are reserved at, besides the input tokens that they add; in nano-dollars. */
  readonly nanoUsd: number
  readonly inputTokens: number
  /** Paths of tools that are left out, and of the choice of such a tool. */
  readonly leftOut: readonly string[]
}

/**
 * Decides which of the requested tools a target runs: those that it has a known price for, in the caller's own format.
 * All others are left out. A key with a `max_request_cost_usd` gets none, because the input that they add is not known in
 * advance. undefined: the request asks for none.
 */
export function grantHostedTools(
  { hostedTools }: Pick<Findings, 'hostedTools'>,
  { provider, model }: Pick<ResolvedTarget, 'provider' | 'model'>,
  format: ClientFormat,
  source: SourceBody,
  requester: Requester,
): GrantedTools | undefined {
  if (hostedTools.length === 0) return undefined
  const types = new Set<string>()
  const leftOut: string[] = []
  let nanoUsd = 0
  let inputTokens = 0
  const mayRun = format.id === source.format && mayUseHosted(requester)
  for (const { path, type, isFree, maxUses = USUAL_USES, choicePath } of hostedTools) {
    if (mayRun && isFree === true) continue
    const mayPrice = mayRun && requester.caller.maxRequestCostNanoUsd === null && type !== undefined
    const price = mayPrice ? findPriceOfType(provider, model, type) : undefined
    if (price === undefined || type === undefined) {
      leftOut.push(path)
      if (choicePath !== undefined) leftOut.push(choicePath)
      continue
    }
    types.add(type)
    const uses = Math.min(maxUses, MAX_USES)
    nanoUsd += toHostedCost(price, uses)
    inputTokens += uses * TOKENS_A_USE
  }
  return { types, nanoUsd, inputTokens, leftOut }
}

/** Client tokens only where the environment lets what they send pass. */
function mayUseHosted({ caller, environment }: Requester): boolean {
  return caller.kind !== 'client_token' || environment.allowClientPassthrough
}

/** The first tool that a client token may not ask for; undefined: there is none. */
export function findRefusedTool(
  { hostedTools }: Pick<Findings, 'hostedTools'>,
  requester: Requester,
): HostedToolRequest | undefined {
  return mayUseHosted(requester) ? undefined : hostedTools[0]
}
