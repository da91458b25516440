import { describe, expect, test } from 'vitest'
import { checkCostBound } from './cost-bound.ts'

/** USD per million tokens: an input token costs 1,000 nano-dollars, an output token 2,000. */
const PRICING = { input: 1, output: 2 }

function bound(
  nanoUsd: number,
  change: Partial<Parameters<typeof checkCostBound>[1]> = {},
): string | number | undefined {
  const verdict = checkCostBound(nanoUsd, {
    pricing: PRICING,
    inputTokens: 10,
    audioTokens: 0,
    maxOutputTokens: undefined,
    modelMaxOutputTokens: 4096,
    keepsMaximum: true,
    asksForCaching: false,
    choices: 1,
    ...change,
  })
  return 'refusal' in verdict
    ? `${verdict.refusal.code} ${verdict.refusal.param}`
    : (verdict.outputCap ?? undefined)
}

const TOO_EXPENSIVE = 'budget_exceeded restrictions.max_request_cost_usd'

describe('with a cap of the caller', () => {
  test('refuses what exceeds the bound by one nano-dollar, counting the input and the whole cap', () => {
    expect(bound(210_000, { maxOutputTokens: 100 })).toBeUndefined()
    expect(bound(209_999, { maxOutputTokens: 100 })).toBe(TOO_EXPENSIVE)
  })

  test('counts the cap once per requested answer', () => {
    expect(bound(410_000, { maxOutputTokens: 100, choices: 2 })).toBeUndefined()
    expect(bound(409_999, { maxOutputTokens: 100, choices: 2 })).toBe(TOO_EXPENSIVE)
  })
})

test('counts input at the price of an hour in the cache where the request asks for caching', () => {
  const kept = { maxOutputTokens: 100, pricing: { ...PRICING, cache_write: 1.25, cache_write_1h: 2 } }
  expect(bound(212_500, kept)).toBeUndefined()
  expect(bound(220_000, { ...kept, asksForCaching: true })).toBeUndefined()
  expect(bound(219_999, { ...kept, asksForCaching: true })).toBe(TOO_EXPENSIVE)
})

test('counts input at the cache-write price where that is higher, and the fee per request', () => {
  const written = { maxOutputTokens: 100, pricing: { ...PRICING, cache_write: 1.25 } }
  expect(bound(212_500, written)).toBeUndefined()
  expect(bound(212_499, written)).toBe(TOO_EXPENSIVE)
  const withFee = { maxOutputTokens: 100, pricing: { ...PRICING, per_request: 0.005 } }
  expect(bound(5_210_000, withFee)).toBeUndefined()
  expect(bound(5_209_999, withFee)).toBe(TOO_EXPENSIVE)
})

test('counts audio at its own price, or at that of text if that is higher', () => {
  const heard = { maxOutputTokens: 100, audioTokens: 4, pricing: { ...PRICING, audio_input: 3 } }
  expect(bound(218_000, heard)).toBeUndefined()
  expect(bound(217_999, heard)).toBe(TOO_EXPENSIVE)
  const cheap = { ...heard, pricing: { ...PRICING, audio_input: 0.5 } }
  expect(bound(210_000, cheap)).toBeUndefined()
  expect(bound(209_999, cheap)).toBe(TOO_EXPENSIVE)
})

describe('without a cap of the caller', () => {
  test('returns the cap that the bound still pays for after the input', () => {
    expect(bound(210_000)).toBe(100)
    expect(bound(211_999)).toBe(100)
    expect(bound(210_000, { choices: 3 })).toBe(33)
  })

  test('refuses where the bound does not pay for one output token', () => {
    expect(bound(12_000)).toBe(1)
    expect(bound(11_999)).toBe(TOO_EXPENSIVE)
    expect(bound(9_999)).toBe(TOO_EXPENSIVE)
    expect(bound(0)).toBe(TOO_EXPENSIVE)
  })

  test('returns no cap where the cap of the model itself is within the bound', () => {
    expect(bound(10_000 + 4096 * 2000)).toBeUndefined()
    expect(bound(10_000 + 4095 * 2000)).toBe(4095)
    expect(bound(1e15, { modelMaxOutputTokens: null })).toBe(499_999_999_995)
  })

  test('returns no cap where output is free', () => {
    expect(bound(0, { pricing: { input: 0, output: 0 } })).toBeUndefined()
    expect(bound(10_000, { pricing: { input: 1, output: 0 } })).toBeUndefined()
  })
})

test('refuses a model without a price: an unknown price is never zero', () => {
  expect(bound(1e15, { pricing: null })).toBe('model_unpriced model')
})

test('counts output at the price of thinking where that is higher', () => {
  const pricing = { ...PRICING, thinking_output: 6 }
  expect(bound(610_000, { pricing, maxOutputTokens: 100 })).toBeUndefined()
  expect(bound(609_999, { pricing, maxOutputTokens: 100 })).toBe(TOO_EXPENSIVE)
})

test('counts long input at its long-context prices', () => {
  const pricing = { ...PRICING, long_context: [{ over_input_tokens: 9, input: 2, output: 4 }] }
  expect(bound(420_000, { pricing, maxOutputTokens: 100 })).toBeUndefined()
  expect(bound(419_999, { pricing, maxOutputTokens: 100 })).toBe(TOO_EXPENSIVE)
})

test("sends the model's own cap to a server that may not know it", () => {
  expect(bound(100_000_000, { keepsMaximum: false })).toBe(4096)
  expect(bound(100_000_000)).toBeUndefined()
})
