import type { ModelPricing, TokenPrices } from '@rideau/llm/provider/prices'
import type { Refusal } from '../refusal.ts'
import { SET_A_PRICE } from './set-a-price.ts'

/** Prices are USD per million tokens with at most six decimals. As integers they count millionths of a dollar. */
const PRICE_UNITS = 1_000_000
/** A price unit for one token is a thousandth of a nano-dollar. */
const UNITS_PER_NANO_USD = 1000n
/** The number of tokens that a price is for. */
const PRICED_TOKENS = 1_000_000n

export interface BoundedRequest {
  /** null: the price is unknown, so every bound refuses the request. */
  readonly pricing: ModelPricing | null
  readonly inputTokens: number
  /** Those of `inputTokens` that may be billed as audio. */
  readonly audioTokens: number
  /** The caller's own cap on output tokens. undefined: none. */
  readonly maxOutputTokens: number | undefined
  /** The model's own cap on output tokens. null: unknown. */
  readonly modelMaxOutputTokens: number | null
  /** Its server keeps to that cap unasked. */
  readonly keepsMaximum: boolean
  /** True if the request marks input to be cached, perhaps for an hour, which costs more than the usual five minutes. */
  readonly asksForCaching: boolean
  /** Number of answers requested in one call. */
  readonly choices: number
}

export type CostVerdict =
  | { readonly refusal: Refusal }
  /** Output tokens to send upstream as the cap. undefined: the bound holds without one. */
  | { readonly outputCap: number | undefined }

/**
 * Checks a request against its key's `max_request_cost_usd`: the cost of the counted input and of `max_output_tokens` must
 * not exceed the bound. If the caller sets no cap, returns the largest cap whose cost the bound covers. Refuses with
 * `budget_exceeded` if that is less than one token, and with `model_unpriced` if the price is unknown.
 */
export function checkCostBound(boundNanoUsd: number, request: BoundedRequest): CostVerdict {
  const { pricing, maxOutputTokens, modelMaxOutputTokens, keepsMaximum } = request
  if (pricing === null) return { refusal: UNPRICED }
  const prices = pricesFor(pricing, request.inputTokens)
  // A provider may write input to its cache unasked, which costs more than plain input.
  const writes = Math.max(prices.cache_write ?? 0, request.asksForCaching ? (prices.cache_write_1h ?? 0) : 0)
  const inputPrice = Math.max(prices.input, writes)
  const input = toUnits(inputPrice)
  const perRequest = toUnits(pricing.per_request ?? 0) * PRICED_TOKENS
  const audio = toUnits(Math.max(pricing.audio_input ?? 0, inputPrice))
  const inputCost = BigInt(request.inputTokens) * input + BigInt(request.audioTokens) * (audio - input)
  const remaining = BigInt(boundNanoUsd) * UNITS_PER_NANO_USD - inputCost - perRequest
  const perToken = toUnits(Math.max(prices.output, prices.thinking_output ?? 0)) * BigInt(request.choices)
  const wanted = BigInt(maxOutputTokens ?? 1)
  if (remaining < 0n || remaining < wanted * perToken) return { refusal: TOO_EXPENSIVE }
  if (maxOutputTokens !== undefined || perToken === 0n) return { outputCap: undefined }
  const affordable = Number(remaining / perToken)
  // The model's own cap keeps the cost within the bound. A higher cap could only make the provider refuse the request.
  if (modelMaxOutputTokens !== null && affordable >= modelMaxOutputTokens)
    return { outputCap: keepsMaximum ? undefined : modelMaxOutputTokens }
  return { outputCap: Math.min(affordable, Number.MAX_SAFE_INTEGER) }
}

function pricesFor(pricing: ModelPricing, inputTokens: number): TokenPrices {
  return pricing.long_context?.findLast(({ over_input_tokens: over }) => inputTokens > over) ?? pricing
}

function toUnits(price: number): bigint {
  return BigInt(Math.round(price * PRICE_UNITS))
}

const UNPRICED: Refusal = {
  code: 'model_unpriced',
  message: `The key has a max_request_cost_usd, and the price of this model is unknown. ${SET_A_PRICE}`,
  param: 'model',
}

export const TOO_EXPENSIVE: Refusal = {
  code: 'budget_exceeded',
  message: 'This request could cost more than the max_request_cost_usd of the key.',
  param: 'restrictions.max_request_cost_usd',
}
