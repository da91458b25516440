import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Bill } from '@rideau/llm/usage/bill'
import { estimateTokens } from '@rideau/llm/usage/estimate'
import { costNanoUsd } from '@rideau/llm/usage/pricing'
import { type Usage, ZERO_USAGE } from '@rideau/llm/usage/usage'
import { inputTokens as inputOf, outputTokens as outputOf } from '@rideau/llm/usage/usage-sums'
import { toCredibleUsage, type UsageBound } from './credible-usage.ts'

/** The bill of a request for which no provider charges. */
export const FREE: Bill = { usage: ZERO_USAGE, isEstimated: false, costNanoUsd: 0 }

/** What the gateway knows of a request besides the usage that its provider reports at the end. */
export interface ObservedRequest {
  readonly requestBytes: number
  /** The input tokens that were counted and reserved. Absent: estimated from `requestBytes`. */
  readonly inputTokens?: number | undefined
  readonly deliveredTokens: number
  /** The most output tokens that may have been generated without having been seen, reasoning included. */
  readonly generatedTokens?: number | undefined
  /** Answers that were asked for. Absent: one. */
  readonly choices?: number | undefined
  /** What the limits reserve for the request. Absent: no such limit applies. */
  readonly reservedTokens?: number | undefined
  /** The usage that the provider had reported when its stream broke off. Its input is final, its output is not. */
  readonly partialUsage?: Usage | undefined
  /** The answer has text, reasoning or a call, so that its output is not 0. Absent: it is not known. */
  readonly hasVisibleOutput?: boolean | undefined
  /** The answer has reasoning, whether or not its usage counts any. Absent: it is not known. */
  readonly hasVisibleReasoning?: boolean | undefined
}

function estimateUsage(model: CatalogModel | undefined, observed: ObservedRequest): Usage {
  const { requestBytes, inputTokens, deliveredTokens, generatedTokens = 0, partialUsage } = observed
  // A partial usage must be as credible as a complete one.
  const partial =
    partialUsage === undefined ? undefined : toCredibleUsage(partialUsage, toBound(model, observed))
  if (partial !== undefined && inputOf(partial) > 0) {
    const { output, reasoning } = partial
    return { ...partial, output: Math.max(output, deliveredTokens, generatedTokens - reasoning) }
  }
  const usage = {
    ...ZERO_USAGE,
    uncachedInput: inputTokens ?? estimateTokens(requestBytes),
    output: Math.max(deliveredTokens, generatedTokens),
  }
  // Tools that were counted before the stream broke off.
  return withHosted(usage, partialUsage?.hosted)
}

/**
 * Returns the usage with what cannot be 0: every request has input, and an answer that shows output has output. The same object
 * where neither is missing.
 */
function withMissing(usage: Usage, observed: ObservedRequest): Usage {
  const { requestBytes, inputTokens, deliveredTokens, hasVisibleOutput } = observed
  const lacksInput = inputOf(usage) === 0
  const lacksOutput = hasVisibleOutput === true && outputOf(usage) === 0
  if (!lacksInput && !lacksOutput) return usage
  return {
    ...usage,
    uncachedInput: lacksInput ? (inputTokens ?? estimateTokens(requestBytes)) : usage.uncachedInput,
    output: lacksOutput ? deliveredTokens : usage.output,
  }
}

function withHosted(usage: Usage, hosted: Usage['hosted']): Usage {
  return hosted === undefined ? usage : { ...usage, hosted }
}

function toBound(
  model: CatalogModel | undefined,
  { requestBytes, inputTokens, deliveredTokens, choices = 1, reservedTokens = 0 }: ObservedRequest,
): UsageBound {
  const counted = (inputTokens ?? estimateTokens(requestBytes)) + deliveredTokens
  return { model, choices, ownTokens: Math.max(counted, reservedTokens) }
}

/**
 * Returns the bill of an answer. Uses the usage and cost that the provider reported if they are credible. A usage that is too
 * large is billed up to its bound, or at the reported cost if that is more; a part that is 0 and cannot be is estimated. Without
 * a usage estimates all of it, from the counted input or the request's bytes and from the delivered tokens, so that generated output is never free.
 */
export function toBill(
  model: CatalogModel | undefined,
  reported: Usage | undefined,
  observed: ObservedRequest,
): Bill {
  const credible = reported === undefined ? undefined : toCredibleUsage(reported, toBound(model, observed))
  if (credible !== undefined) {
    const usage = withMissing(credible, observed)
    const { reportedCostNanoUsd } = usage
    const isCut = credible !== reported
    // Alibaba counts no reasoning tokens in some answers that it charges as thought.
    const priced = observed.hasVisibleReasoning === true && usage.reasoning === 0 ? asReasoning(usage) : usage
    const price =
      reportedCostNanoUsd === undefined || isCut ? costNanoUsd(priced, model?.pricing ?? null) : null
    const cost = isCut ? toLarger(reportedCostNanoUsd, price) : (reportedCostNanoUsd ?? price)
    return { usage, isEstimated: usage !== reported, costNanoUsd: cost }
  }
  const estimated = estimateUsage(model, observed)
  const usage = withHosted(estimated, reported?.hosted ?? estimated.hosted)
  // The answer may have had reasoning, which makes output dearer at some models.
  return { usage, isEstimated: true, costNanoUsd: costNanoUsd(asReasoning(usage), model?.pricing ?? null) }
}

/** The same usage, priced as that of an answer with reasoning. */
function asReasoning(usage: Usage): Usage {
  return { ...usage, output: 0, reasoning: outputOf(usage) }
}

function toLarger(reported: number | undefined, price: number | null): number | null {
  return reported === undefined ? price : Math.max(reported, price ?? 0)
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
  /** See ObservedRequest. */
  readonly generatedTokens?: number | undefined
  /** See ObservedRequest. */
  readonly choices?: number | undefined
  readonly reservedTokens?: number | undefined
}

/**
 * The bill of an attempt that ended without an answer. Its input counts, since the provider may charge for what it
 * read, and `outputTokens` as its output. A credible usage that the provider reported takes precedence.
 */
export function toAbandonedBill(
  model: CatalogModel | undefined,
  charge: Charge,
  { inputTokens, outputTokens, generatedTokens, choices, reservedTokens }: AbandonedTokens,
): Bill {
  const deliveredTokens = outputTokens
  const observed = { requestBytes: 0, inputTokens, deliveredTokens, generatedTokens, choices, reservedTokens }
  if (charge.isAnswered) return toBill(model, charge.usage, observed)
  return toBill(model, undefined, { ...observed, partialUsage: charge.usage })
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
