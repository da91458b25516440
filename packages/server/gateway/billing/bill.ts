import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { costNanoUsd } from '@rideau/llm/usage/pricing'
import type { Usage } from '@rideau/llm/usage/usage'
import { inputTokens as inputOf } from '@rideau/llm/usage/usage-sums'

const NOTHING_USED: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
/** The bill of a request for which no provider charges. */
export const FREE: Bill = { usage: NOTHING_USED, isEstimated: false, costNanoUsd: 0 }

/** What the gateway knows of a request besides the usage that its provider reports at the end. */
export interface Seen {
  readonly requestBytes: number
  /** The input tokens that were counted and reserved. Absent: estimated from `requestBytes`. */
  readonly inputTokens?: number | undefined
  readonly deliveredTokens: number
  /** The most output tokens that may have been generated without having been seen, reasoning included. */
  readonly generatedTokens?: number | undefined
  /** The usage that the provider had reported when its stream broke off. Its input is final, its output is not. */
  readonly partialUsage?: Usage | undefined
}

function estimateUsage(model: CatalogModel | undefined, seen: Seen): Usage {
  const { requestBytes, inputTokens, deliveredTokens, generatedTokens = 0, partialUsage } = seen
  // A partial usage must be as credible as a complete one.
  if (partialUsage !== undefined && isCredible(partialUsage, model) && inputOf(partialUsage) > 0) {
    const { output, reasoning } = partialUsage
    return { ...partialUsage, output: Math.max(output, deliveredTokens, generatedTokens - reasoning) }
  }
  const usage = {
    ...NOTHING_USED,
    uncachedInput: inputTokens ?? estimateTokens(requestBytes),
    output: Math.max(deliveredTokens, generatedTokens),
  }
  // Tools that were counted before the stream broke off.
  return withHosted(usage, partialUsage?.hosted)
}

function withHosted(usage: Usage, hosted: Usage['hosted']): Usage {
  return hosted === undefined ? usage : { ...usage, hosted }
}

/**
 * Returns the bill of an answer. Uses the usage and cost that the provider reported if they are credible. Otherwise
 * estimates usage from the counted input or the request's bytes and from the delivered tokens, so that generated output
 * is never free.
 */
export function toBill(model: CatalogModel | undefined, reported: Usage | undefined, seen: Seen): Bill {
  if (reported !== undefined && isCredible(reported, model)) {
    const priced = reported.reportedCostNanoUsd ?? costNanoUsd(reported, model?.pricing ?? null)
    return { usage: reported, isEstimated: false, costNanoUsd: priced }
  }
  const estimated = estimateUsage(model, seen)
  const usage = withHosted(estimated, reported?.hosted ?? estimated.hosted)
  return { usage, isEstimated: true, costNanoUsd: costNanoUsd(usage, model?.pricing ?? null) }
}

/** What is known of an attempt that was sent and ended without an answer. */
export interface Charge {
  /**
   * True if the provider answered with a success that cannot be read. False if it is unknown how far the provider got.
   */
  readonly isAnswered: boolean
  /** Bytes of the answer that arrived. */
  readonly bytes: number
  /** The usage reported before the attempt ended. */
  readonly usage?: Usage | undefined
  /** Milliseconds from the sending of the request until the gateway ended the call. Absent: the provider ended it. */
  readonly ms?: number | undefined
}

interface AbandonedTokens {
  readonly inputTokens: number
  readonly outputTokens: number
  /** As of Seen. */
  readonly generatedTokens?: number | undefined
}

/**
 * The bill of an attempt that ended without an answer. Its input counts, since the provider may charge for what it
 * read, and `outputTokens` as its output. A credible usage that the provider reported takes precedence.
 */
export function toAbandonedBill(
  model: CatalogModel | undefined,
  charge: Charge,
  { inputTokens, outputTokens, generatedTokens }: AbandonedTokens,
): Bill {
  const seen = { requestBytes: 0, inputTokens, deliveredTokens: outputTokens, generatedTokens }
  if (charge.isAnswered) return toBill(model, charge.usage, seen)
  return toBill(model, undefined, { ...seen, partialUsage: charge.usage })
}

/** Adds the bill of abandoned attempts to the bill of the answer. The sum is unknown (null) if one cost is unknown. */
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
  const audioInput = (one.audioInput ?? 0) + (other.audioInput ?? 0)
  return {
    uncachedInput: one.uncachedInput + other.uncachedInput,
    ...(audioInput === 0 ? {} : { audioInput }),
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWrite1h: (one.cacheWrite1h ?? 0) + (other.cacheWrite1h ?? 0),
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    ...addHosted(one.hosted, other.hosted),
  }
}

function addHosted(one: Usage['hosted'], other: Usage['hosted']): Pick<Usage, 'hosted'> {
  if (one === undefined && other === undefined) return {}
  const uses = (one?.uses ?? 0) + (other?.uses ?? 0)
  return { hosted: { uses, nanoUsd: (one?.nanoUsd ?? 0) + (other?.nanoUsd ?? 0) } }
}

/** Far above what any request to a current model can use. */
const MAX_TOKENS = 20_000_000

/**
 * Whether a request can have used this: whole numbers, none negative, some usage, and at most twice the model's context
 * window. Twice, because published windows are rounded and providers count their own additions too. The model reads its
 * context again after each tool that the provider ran.
 */
function isCredible(usage: Usage, model: CatalogModel | undefined): boolean {
  const { uncachedInput, cacheRead, cacheWrite, cacheWrite1h = 0, output, reasoning } = usage
  const counts = [uncachedInput, cacheRead, cacheWrite, cacheWrite1h, output, reasoning]
  const window = model?.context_window ?? null
  const total = counts.reduce((sum, count) => sum + count, 0)
  return (
    counts.every(count => Number.isSafeInteger(count) && count >= 0) &&
    total > 0 &&
    total <= (window === null ? MAX_TOKENS : Math.max((2 + (usage.hosted?.uses ?? 0)) * window, 100_000))
  )
}
