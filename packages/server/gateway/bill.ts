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
interface Seen {
  readonly requestBytes: number
  readonly deliveredTokens: number
  /** What a provider had told when its stream broke off: the input is right, the output is not yet. */
  readonly partialUsage?: Usage | undefined
}

function estimateUsage({ requestBytes, deliveredTokens, partialUsage }: Seen): Usage {
  if (partialUsage === undefined) {
    return { ...NOTHING_USED, uncachedInput: estimateTokens(requestBytes), output: deliveredTokens }
  }
  return { ...partialUsage, output: Math.max(partialUsage.output, deliveredTokens) }
}

/**
 * Prices what the provider reported. Where it reported nothing (a caller that left, a provider that does not tell), the
 * request's bytes and the tokens delivered stand in: never nothing for something that was generated.
 */
export function toBill(model: CatalogModel | undefined, reported: Usage | undefined, seen: Seen): Bill {
  const usage = reported ?? estimateUsage(seen)
  return {
    usage,
    isEstimated: reported === undefined,
    costNanoUsd: costNanoUsd(usage, model?.pricing ?? null),
  }
}
