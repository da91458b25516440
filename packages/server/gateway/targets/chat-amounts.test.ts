import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { ModelPricing } from '@rideau/llm/provider/prices'
import { findModel } from '@rideau/llm/providers/catalog'
import { describe, expect, test } from 'vitest'
import { type ReservedTokens, toReservedAmounts } from './chat-amounts.ts'

const MODEL = findModel('openai', 'gpt-5.6-sol') as CatalogModel
const PRICING = { input: 1, output: 2 }

/** Nano-dollars that are reserved for ten input tokens and one output token. */
function reserve(pricing: ModelPricing, tokens: Partial<ReservedTokens> = {}): number {
  const all = { input: 10, audioInput: 0, output: 1, mayWriteCache: false, ...tokens }
  return toReservedAmounts([{ catalogModel: { ...MODEL, pricing } }], all).nanoUsd
}

describe('writes to the cache', () => {
  const withHour = { ...PRICING, cache_write: 1.25, cache_write_1h: 2 }

  test('are reserved unasked at models that have no price for an hour', () => {
    expect(reserve(PRICING)).toBe(12_000)
    expect(reserve({ ...PRICING, cache_write: 1.25 })).toBe(14_500)
    // GPT-5.6 writes an implicit breakpoint at $6.25 a million; plain input costs $5.
    expect(reserve(MODEL.pricing as ModelPricing, { output: 0 })).toBe(62_500)
  })

  test('are reserved at others where the request asks for them', () => {
    expect(reserve(withHour)).toBe(12_000)
    expect(reserve(withHour, { mayWriteCache: true })).toBe(22_000)
  })
})

test('output is reserved at the price of thinking, and long input at the price of its length', () => {
  expect(reserve({ ...PRICING, thinking_output: 6 })).toBe(16_000)
  const long_context = [
    { over_input_tokens: 5, input: 2, output: 4 },
    { over_input_tokens: 9, input: 3, output: 6, thinking_output: 7 },
    { over_input_tokens: 10, input: 9, output: 9 },
  ]
  expect(reserve({ ...PRICING, long_context })).toBe(37_000)
})

describe('audio', () => {
  const withAudio = { ...PRICING, audio_input: 4 }

  test('is reserved at its own price, and the rest at the price of text', () => {
    expect(reserve(withAudio)).toBe(12_000)
    expect(reserve(withAudio, { audioInput: 6 })).toBe(4 * 1_000 + 6 * 4_000 + 2_000)
  })

  test('is reserved at the price of text where that is higher, since it may be text', () => {
    expect(reserve({ ...PRICING, audio_input: 0.5 }, { audioInput: 10 })).toBe(12_000)
  })
})

test('tokens of images are reserved by the target that has most, and each is priced at its own target', () => {
  const withPrice = (input: number): CatalogModel => ({ ...MODEL, pricing: { input, output: 0 } })
  const [cheap, dear] = [
    { catalogModel: withPrice(1), imageTokens: 40 },
    { catalogModel: withPrice(3), imageTokens: 5 },
  ]
  const tokens = { input: 10, audioInput: 0, output: 1, mayWriteCache: false }
  expect(toReservedAmounts([cheap, dear], tokens)).toEqual({ tokens: 51, nanoUsd: 50_000 })
  expect(toReservedAmounts([dear], tokens)).toEqual({ tokens: 16, nanoUsd: 45_000 })
})
