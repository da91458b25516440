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

/**
 * Prices what the provider reported. Where it reported nothing (a caller that left, a provider that does not tell), the
 * request's bytes and the tokens delivered stand in: never nothing for something that was generated.
 */
export function toBill(
  model: CatalogModel | undefined,
  reported: Usage | undefined,
  seen: { readonly requestBytes: number; readonly deliveredTokens: number },
): Bill {
  const usage = reported ?? {
    ...NOTHING_USED,
    uncachedInput: estimateTokens(seen.requestBytes),
    output: seen.deliveredTokens,
  }
  return {
    usage,
    isEstimated: reported === undefined,
    costNanoUsd: costNanoUsd(usage, model?.pricing ?? null),
  }
}
