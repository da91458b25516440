import { describe, expect, test } from 'vitest'
import { boundCost } from './cost-bound.ts'

/** A dollar for a million tokens in, two for a million out: 1,000 and 2,000 nano-dollars a token. */
const PRICING = { input: 1, output: 2 }

function bound(
  nanoUsd: number,
  change: Partial<Parameters<typeof boundCost>[1]> = {},
): string | number | undefined {
  const verdict = boundCost(nanoUsd, {
    pricing: PRICING,
    inputTokens: 10,
    maxOutputTokens: undefined,
    modelMaxOutputTokens: 4096,
    choices: 1,
    ...change,
  })
  return 'refusal' in verdict
    ? `${verdict.refusal.code} ${verdict.refusal.param}`
    : (verdict.outputCap ?? undefined)
}

const TOO_DEAR = 'budget_exceeded restrictions.max_request_cost_usd'

describe('where the caller names a cap', () => {
  test('input and the whole cap have to fit, to the nano-dollar', () => {
    expect(bound(210_000, { maxOutputTokens: 100 })).toBeUndefined()
    expect(bound(209_999, { maxOutputTokens: 100 })).toBe(TOO_DEAR)
  })

  test('each answer of several costs its own', () => {
    expect(bound(410_000, { maxOutputTokens: 100, choices: 2 })).toBeUndefined()
    expect(bound(409_999, { maxOutputTokens: 100, choices: 2 })).toBe(TOO_DEAR)
  })
})

test('what may be written into a cache is bounded at the dearer price, and a fee for the request is in', () => {
  const written = { maxOutputTokens: 100, pricing: { ...PRICING, cache_write: 1.25 } }
  expect(bound(212_500, written)).toBeUndefined()
  expect(bound(212_499, written)).toBe(TOO_DEAR)
  const withFee = { maxOutputTokens: 100, pricing: { ...PRICING, per_request: 0.005 } }
  expect(bound(5_210_000, withFee)).toBeUndefined()
  expect(bound(5_209_999, withFee)).toBe(TOO_DEAR)
})

describe('where the caller names none', () => {
  test('the cap is what the bound still buys after the input', () => {
    expect(bound(210_000)).toBe(100)
    expect(bound(211_999)).toBe(100)
    expect(bound(210_000, { choices: 3 })).toBe(33)
  })

  test('under one token it is refused', () => {
    expect(bound(12_000)).toBe(1)
    expect(bound(11_999)).toBe(TOO_DEAR)
    expect(bound(9_999)).toBe(TOO_DEAR)
    expect(bound(0)).toBe(TOO_DEAR)
  })

  test('no cap is sent where the model itself keeps within the bound', () => {
    expect(bound(10_000 + 4096 * 2000)).toBeUndefined()
    expect(bound(10_000 + 4095 * 2000)).toBe(4095)
    expect(bound(1e15, { modelMaxOutputTokens: null })).toBe(499_999_999_995)
  })

  test('what is free needs none', () => {
    expect(bound(0, { pricing: { input: 0, output: 0 } })).toBeUndefined()
    expect(bound(10_000, { pricing: { input: 1, output: 0 } })).toBeUndefined()
  })
})

test('an unknown price is never zero: no bound can be kept', () => {
  expect(bound(1e15, { pricing: null })).toBe('model_unpriced model')
})

test('long input is counted at its own prices', () => {
  const pricing = { ...PRICING, long_context: { over_input_tokens: 9, input: 2, output: 4 } }
  expect(bound(420_000, { pricing, maxOutputTokens: 100 })).toBeUndefined()
  expect(bound(419_999, { pricing, maxOutputTokens: 100 })).toBe(TOO_DEAR)
})
