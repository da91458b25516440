import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { costNanoUsd } from '@rideau/llm/usage/pricing'
import type { Usage } from '@rideau/llm/usage/usage'
import { inputTokens as inputOf } from '@rideau/llm/usage/usage-sums'

const NOTHING_USED: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
/** For a request that no provider was paid for. */
export const FREE: Bill = { usage: NOTHING_USED, isEstimated: false, costNanoUsd: 0 }

/** What is known of a request besides the usage that its provider reports in the end. */
export interface Seen {
  readonly requestBytes: number
  /** What was counted, and held, of its input; absent: the bytes stand in. */
  readonly inputTokens?: number | undefined
  readonly deliveredTokens: number
  /** What a provider had told when its stream broke off: the input is right, the output is not yet. */
  readonly partialUsage?: Usage | undefined
}

function estimateUsage(model: CatalogModel | undefined, seen: Seen): Usage {
  const { requestBytes, inputTokens, deliveredTokens, partialUsage } = seen
  // What cannot be true of a whole answer is not believed of a part of one.
  if (partialUsage !== undefined && isCredible(partialUsage, model) && inputOf(partialUsage) > 0) {
    return { ...partialUsage, output: Math.max(partialUsage.output, deliveredTokens) }
  }
  return {
    ...NOTHING_USED,
    uncachedInput: inputTokens ?? estimateTokens(requestBytes),
    output: deliveredTokens,
  }
}

/**
 * Prices what the provider reported, or takes its own word for the price where that counts. Where it reported nothing (a caller that left, a provider that does not tell), the
 * request's bytes and the tokens delivered stand in: never nothing for something that was generated.
 */
export function toBill(model: CatalogModel | undefined, reported: Usage | undefined, seen: Seen): Bill {
  if (reported !== undefined && isCredible(reported, model)) {
    const priced = reported.reportedCostNanoUsd ?? costNanoUsd(reported, model?.pricing ?? null)
    return { usage: reported, isEstimated: false, costNanoUsd: priced }
  }
  const usage = estimateUsage(model, seen)
  return { usage, isEstimated: true, costNanoUsd: costNanoUsd(usage, model?.pricing ?? null) }
}

/** What is known of a try that left, and of which nobody got an answer. */
export interface Charge {
  /** Its provider answered as for a success, with something that cannot be read; else nobody knows how far it got. */
  readonly isAnswered: boolean
  /** Of the answer, as far as it came. */
  readonly bytes: number
  /** As far as it was told. */
  readonly usage?: Usage | undefined
}

/**
 * For a try that nobody got an answer of: its provider may charge for what it read, so its input counts, and as output what
 * is said here of it. What the provider told goes before, where it told that and can be believed.
 */
export function toAbandonedBill(
  model: CatalogModel | undefined,
  charge: Charge,
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
): Bill {
  const seen = { requestBytes: 0, inputTokens, deliveredTokens: outputTokens }
  if (charge.isAnswered) return toBill(model, charge.usage, seen)
  return toBill(model, undefined, { ...seen, partialUsage: charge.usage })
}

/** Of one request: its tries that were lost, and the one that answered. An unknown price stays unknown. */
export function addBills(one: Bill | undefined, other: Bill): Bill {
  if (one === undefined) return other
  const cost =
    one.costNanoUsd === null || other.costNanoUsd === null ? null : one.costNanoUsd + other.costNanoUsd
  return {
    usage: addUsage(one.usage, other.usage),
    isEstimated: one.isEstimated || other.isEstimated,
    costNanoUsd: cost,
  }
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    uncachedInput: one.uncachedInput + other.uncachedInput,
    audioInput: (one.audioInput ?? 0) + (other.audioInput ?? 0),
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWrite1h: (one.cacheWrite1h ?? 0) + (other.cacheWrite1h ?? 0),
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  }
}

/** No request of today's models comes near it. */
const MAX_TOKENS = 20_000_000

/**
 * Can this be what a request used? Whole numbers, none of them negative, some input, and no more than the model takes:
 * twice its window, since windows are told in round numbers and what a provider adds counts too.
 */
function isCredible(usage: Usage, model: CatalogModel | undefined): boolean {
  const { uncachedInput, cacheRead, cacheWrite, cacheWrite1h = 0, output, reasoning } = usage
  const counts = [uncachedInput, cacheRead, cacheWrite, cacheWrite1h, output, reasoning]
  const window = model?.context_window ?? null
  const total = counts.reduce((sum, count) => sum + count, 0)
  return (
    counts.every(count => Number.isSafeInteger(count) && count >= 0) &&
    total > 0 &&
    total <= (window === null ? MAX_TOKENS : Math.max(2 * window, 100_000))
  )
}
