import type { ModelPricing, TokenPrices } from '@rideau/llm/provider/prices'
import type { Refusal } from './verdict.ts'

/** A price's whole unit is a millionth of a dollar per million tokens; a thousand of them for one token are a nano-dollar. */
const PRICE_UNITS = 1_000_000
const UNITS_PER_NANO_USD = 1000n
/** A price is for so many tokens. */
const PRICED_TOKENS = 1_000_000n

export interface BoundedRequest {
  /** null: unknown, and then no bound can be kept. */
  readonly pricing: ModelPricing | null
  readonly inputTokens: number
  /** What the caller asks for at most; undefined: as much as the model gives. */
  readonly maxOutputTokens: number | undefined
  /** What the model gives at most; null: unknown. */
  readonly modelMaxOutputTokens: number | null
  /** Answers asked for at once. */
  readonly choices: number
}

export type CostVerdict =
  | { readonly refusal: Refusal }
  /** undefined: nothing more has to be sent for the bound to hold. */
  | { readonly outputCap: number | undefined }

/**
 * Holds a key's `max_request_cost_usd` against counted input and `max_output_tokens` (contract.md §4 "keys"). Where the
 * caller names no cap, the cap is what the bound still buys after the input.
 */
export function boundCost(boundNanoUsd: number, request: BoundedRequest): CostVerdict {
  const { pricing, maxOutputTokens, modelMaxOutputTokens } = request
  if (pricing === null) {
    return {
      refusal: {
        code: 'model_unpriced',
        message: "The key bounds a request's cost, and this model's price is unknown.",
        param: 'model',
      },
    }
  }
  const prices = pricesFor(pricing, request.inputTokens)
  // Input that the provider writes into its cache unasked costs more than input.
  const input = toUnits(Math.max(prices.input, prices.cache_write ?? 0))
  const perRequest = toUnits(pricing.per_request ?? 0) * PRICED_TOKENS
  const left = BigInt(boundNanoUsd) * UNITS_PER_NANO_USD - BigInt(request.inputTokens) * input - perRequest
  const perToken = toUnits(prices.output) * BigInt(request.choices)
  const wanted = BigInt(maxOutputTokens ?? 1)
  if (left < 0n || left < wanted * perToken) return { refusal: tooDear() }
  if (maxOutputTokens !== undefined || perToken === 0n) return { outputCap: undefined }
  const affordable = Number(left / perToken)
  // What the model gives at most is within the bound: a cap as high as that could only make a provider refuse.
  if (modelMaxOutputTokens !== null && affordable >= modelMaxOutputTokens) return { outputCap: undefined }
  return { outputCap: Math.min(affordable, Number.MAX_SAFE_INTEGER) }
}

function pricesFor(pricing: ModelPricing, inputTokens: number): TokenPrices {
  const long = pricing.long_context
  return long !== undefined && inputTokens > long.over_input_tokens ? long : pricing
}

function toUnits(price: number): bigint {
  return BigInt(Math.round(price * PRICE_UNITS))
}

function tooDear(): Refusal {
  return {
    code: 'budget_exceeded',
    message: 'This request could cost more than the key allows for one request.',
    param: 'restrictions.max_request_cost_usd',
  }
}
