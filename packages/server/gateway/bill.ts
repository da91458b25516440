import { estimateTokens } from '@rideau/llm/estimate'
import { costNanoUsd } from '@rideau/llm/pricing'
import type { CatalogModel, Usage } from '@rideau/llm/spec'

/** What a request used and what that costs. */
export interface Bill {
  readonly usage: Usage
  /** The provider named no usage: these are our own counts. */
  readonly isEstimated: boolean
  /** Whole nano-dollars; null: the price is unknown, which is never zero. */
  readonly costNanoUsd: number | null
}

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

function estimateUsage({ requestBytes, inputTokens, deliveredTokens, partialUsage }: Seen): Usage {
  if (partialUsage === undefined) {
    return {
      ...NOTHING_USED,
      uncachedInput: inputTokens ?? estimateTokens(requestBytes),
      output: deliveredTokens,
    }
  }
  return { ...partialUsage, output: Math.max(partialUsage.output, deliveredTokens) }
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
  const usage = estimateUsage(seen)
  return { usage, isEstimated: true, costNanoUsd: costNanoUsd(usage, model?.pricing ?? null) }
}

/** For a request that left and was not answered: its provider may charge for what it read, so its input counts. */
export function toUnansweredBill(model: CatalogModel | undefined, inputTokens: number): Bill {
  return toBill(model, undefined, { requestBytes: 0, inputTokens, deliveredTokens: 0 })
}

/** No request of today's models comes near it. */
const MOST_TOKENS = 20_000_000

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
    total <= (window === null ? MOST_TOKENS : Math.max(2 * window, 100_000))
  )
}
