import type { ModelPricing, TokenPrices } from '../provider/prices.ts'
import type { Usage } from './usage.ts'
import { inputTokens } from './usage-sums.ts'

/** Prices have at most six decimals of a dollar per million tokens, so a millionth is their whole unit. */
const PRICE_UNITS = 1_000_000
/** The number of tokens that a price is for. */
const TOKENS_PER_PRICE = 1_000_000
/** One token at one price unit costs a thousandth of a nano-dollar. */
const UNITS_PER_NANO_USD = 1000

/**
 * What usage costs in whole nano-dollars, rounded up once; null: the price is unknown, which is never zero. Reasoning is
 * priced as output, and some models charge more for all output of an answer that has reasoning; cached input without a price of its own as input; tools that the provider ran are added. Every product
 * is exact.
 */
export function costNanoUsd(usage: Usage, pricing: ModelPricing | null): number | null {
  if (pricing === null) return null
  const hosted = usage.hosted?.nanoUsd ?? 0
  const prices = pricesFor(usage, pricing)
  const audioInput = Math.min(usage.audioInput ?? 0, usage.uncachedInput)
  const buckets: readonly (readonly [tokens: number, price: number])[] = [
    [usage.uncachedInput - audioInput, prices.input],
    [audioInput, audioPrice(pricing, prices)],
    [usage.cacheRead, prices.cache_read ?? prices.input],
    [usage.cacheWrite, prices.cache_write ?? prices.input],
    // A write kept for an hour has a price of its own at some models, and else costs what any write costs.
    [usage.cacheWrite1h ?? 0, prices.cache_write_1h ?? prices.cache_write ?? prices.input],
    [usage.output + usage.reasoning, outputPrice(prices, usage)],
    [1, (pricing.per_request ?? 0) * TOKENS_PER_PRICE],
  ]
  let units = 0
  for (const [tokens, price] of buckets) units += tokens * Math.round(price * PRICE_UNITS)
  if (Number.isSafeInteger(units)) return Math.ceil(units / UNITS_PER_NANO_USD) + hosted
  // Sums over 2^53 thousandths of a nano-dollar ($9,007) are no longer exact as numbers.
  let exact = 0n
  for (const [tokens, price] of buckets) exact += BigInt(tokens) * BigInt(Math.round(price * PRICE_UNITS))
  const perNano = BigInt(UNITS_PER_NANO_USD)
  return Number((exact + perNano - 1n) / perNano) + hosted
}

/** No price list has an audio price for long contexts or other tiers: there the higher of the two prices counts. */
function audioPrice(pricing: ModelPricing, prices: TokenPrices): number {
  const { audio_input: audio } = pricing
  if (audio === undefined) return prices.input
  return prices === pricing ? audio : Math.max(audio, prices.input)
}

/** True if output costs more in an answer that has reasoning, at some length of the input. */
export function hasThinkingPrice(pricing: ModelPricing | null | undefined): boolean {
  if (pricing === null || pricing === undefined) return false
  return [pricing, ...(pricing.long_context ?? [])].some(prices => prices.thinking_output !== undefined)
}

/** The price of output tokens, reasoning included. */
export function outputPrice(prices: TokenPrices, { reasoning }: Pick<Usage, 'reasoning'>): number {
  return reasoning > 0 ? (prices.thinking_output ?? prices.output) : prices.output
}

/** The prices in the usual service tier for this many input tokens, cached or not. */
export function pricesAt(pricing: ModelPricing, input: number): TokenPrices {
  return pricing.long_context?.findLast(({ over_input_tokens: over }) => input > over) ?? pricing
}

function pricesFor(usage: Usage, pricing: ModelPricing): TokenPrices {
  const usual = pricesAt(pricing, inputTokens(usage))
  const tier = usage.serviceTier === undefined ? undefined : pricing.tiers?.[usage.serviceTier]
  if (tier === undefined) return usual
  return usual === pricing ? tier : inTier(usual, tier, pricing)
}

/** A tier multiplies what a long context costs by as much as the rest. */
function inTier(long: TokenPrices, tier: TokenPrices, usual: TokenPrices): TokenPrices {
  const factor = tier.input / usual.input
  return {
    input: long.input * factor,
    output: long.output * (tier.output / usual.output),
    thinking_output: (long.thinking_output ?? long.output) * (tier.output / usual.output),
    cache_read: (long.cache_read ?? long.input) * factor,
    cache_write: (long.cache_write ?? long.input) * factor,
  }
}
