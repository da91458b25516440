import type { CatalogModel } from '../provider/catalog-model.ts'
import type { RerankPrices } from '../provider/prices.ts'
import { countTexts, type TextTokens } from '../usage/count-texts.ts'
import type { RerankRequest } from './rerank-format.ts'

const NANO_USD = 1_000_000_000
/** Prices for tokens have at most six decimals, so a token at one unit costs a thousandth of a nano-dollar. */
const PRICE_UNITS = 1_000_000
const UNITS_PER_NANO_USD = 1000

/** Tokens of a piece, of the query and a part of a document together. Longer documents count as several. */
const PIECE_TOKENS = 500
const PIECES_A_SEARCH = 100
/** A query that alone is longer leaves this much of a piece to the document. */
const MIN_PART_TOKENS = 50

/** What a request uses of a reranker. */
export interface RerankAmounts {
  readonly searches: number
  readonly inputTokens: number
}

export interface CountedRerank {
  /** Billed where the provider reports nothing. */
  readonly likely: RerankAmounts
  /** Reserved. */
  readonly most: RerankAmounts
}

/** Counts a request's searches and tokens in steps (countTexts). */
export function* countRerank({ query, documents }: RerankRequest): Generator<void, CountedRerank> {
  const [ofQuery, ...ofDocuments] = yield* countTexts([query, ...documents])
  const count = (estimate: (text: TextTokens) => number): RerankAmounts =>
    toAmounts(estimate(ofQuery as TextTokens), ofDocuments.map(estimate))
  return { likely: count(({ likely }) => likely), most: count(({ most }) => most) }
}

/** Takes the tokens of the query and of each document. */
function toAmounts(ofQuery: number, ofDocuments: readonly number[]): RerankAmounts {
  const queryTokens = Math.max(1, ofQuery)
  const partTokens = Math.max(MIN_PART_TOKENS, PIECE_TOKENS - queryTokens)
  let pieces = 0
  let inputTokens = 0
  for (const ofDocument of ofDocuments) {
    const tokens = Math.max(1, ofDocument)
    pieces += Math.ceil(tokens / partTokens)
    // The model reads the query with each document.
    inputTokens += tokens + queryTokens
  }
  return { searches: Math.ceil(pieces / PIECES_A_SEARCH), inputTokens }
}

/** A model's prices; null: unknown. An owner's own model has a price for tokens. */
export function rerankPrices(model: CatalogModel | undefined): RerankPrices | null {
  if (model?.rerank_pricing !== undefined) return model.rerank_pricing
  const pricing = model?.pricing ?? null
  return pricing === null ? null : { input: pricing.input }
}

/** Returns whole nano-dollars, rounded up once; null: the price is unknown, which is never zero. */
export function rerankCostNanoUsd(
  { searches, inputTokens }: RerankAmounts,
  prices: RerankPrices | null,
): number | null {
  if (prices === null) return null
  const { per_search: perSearch = 0, input = 0 } = prices
  const ofTokens = Math.ceil((inputTokens * Math.round(input * PRICE_UNITS)) / UNITS_PER_NANO_USD)
  return searches * Math.round(perSearch * NANO_USD) + ofTokens
}
