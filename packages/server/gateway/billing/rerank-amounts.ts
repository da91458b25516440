import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { RerankUsage } from '@rideau/llm/rerank/rerank-format'
import { type CountedRerank, rerankCostNanoUsd, rerankPrices } from '@rideau/llm/rerank/rerank-pricing'
import type { Bill } from '@rideau/llm/usage/bill'
import type { Amounts } from '../../ledger/ledger.ts'

/** The model that determines the cost of a rerank request. */
export interface PricedRerankTarget {
  readonly catalogModel: CatalogModel | undefined
}

/** A provider that reports more than this multiple of the counted amount is not believed. */
const MAX_CREDIBLE = 4

/** Returns the most that a request may cost in whole nano-dollars; null: the price is unknown. */
export function maxRerankCost({ most }: CountedRerank, { catalogModel }: PricedRerankTarget): number | null {
  return rerankCostNanoUsd(most, rerankPrices(catalogModel))
}

/** Returns what to reserve: the maximum over all targets. */
export function toReservedRerankAmounts(
  { most }: CountedRerank,
  targets: readonly PricedRerankTarget[],
): Amounts {
  let nanoUsd = 0
  for (const { catalogModel } of targets) {
    nanoUsd = Math.max(nanoUsd, rerankCostNanoUsd(most, rerankPrices(catalogModel)) ?? 0)
  }
  return { tokens: most.inputTokens, nanoUsd }
}

export interface RerankBill {
  readonly bill: Bill
  /** null: the model is not priced by the search. */
  readonly searches: number | null
}

/** Returns the bill of an answer. What the provider does not report, or not credibly, is counted by the gateway. */
export function toRerankBill(
  { likely, most }: CountedRerank,
  { catalogModel }: PricedRerankTarget,
  reported: RerankUsage,
): RerankBill {
  const searches = toCredibleAmount(reported.searches, most.searches)
  const tokens = toCredibleAmount(reported.inputTokens, most.inputTokens)
  const prices = rerankPrices(catalogModel)
  const used = {
    searches: searches ?? likely.searches,
    inputTokens: tokens ?? likely.inputTokens,
  }
  const isBySearch = prices?.per_search !== undefined || reported.searches !== undefined
  const isEstimated = isBySearch ? searches === undefined : tokens === undefined
  const usage = { uncachedInput: used.inputTokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  return {
    bill: { usage, isEstimated, costNanoUsd: rerankCostNanoUsd(used, prices) },
    searches: isBySearch ? used.searches : null,
  }
}

function toCredibleAmount(reported: number | undefined, most: number): number | undefined {
  return reported !== undefined && reported > 0 && reported <= Math.max(100, most * MAX_CREDIBLE)
    ? reported
    : undefined
}
