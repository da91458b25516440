import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { Usage } from '@rideau/llm/usage/usage'
import { describe, expect, test } from 'vitest'
import { toBill } from './bill.ts'

const MODEL: CatalogModel = {
  id: 'm',
  display_name: 'M',
  context_window: 100_000,
  max_output_tokens: null,
  capabilities: ['chat'],
  pricing: { input: 1, output: 2 },
}
const USAGE: Usage = { uncachedInput: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 }
const SEEN = { requestBytes: 100, deliveredTokens: 3 }

describe('toBill', () => {
  test("prefers the cost that a provider reports to the catalogue's price, and uses it without one", () => {
    const reported = { ...USAGE, reportedCostNanoUsd: 7 }
    expect(toBill(MODEL, reported, SEEN).costNanoUsd).toBe(7)
    expect(toBill({ ...MODEL, pricing: null }, reported, SEEN).costNanoUsd).toBe(7)
  })

  test("uses the catalogue's price if no cost is reported, and an unknown price is not zero", () => {
    expect(toBill(MODEL, USAGE, SEEN).costNanoUsd).toBe(20_000)
    expect(toBill(undefined, USAGE, SEEN).costNanoUsd).toBeNull()
  })

  test.each([
    ['negative', { uncachedInput: -5 }],
    ['a fraction', { output: 0.5 }],
    ['far too much', { output: 5e8 }],
    ['not a number', { uncachedInput: Number.NaN }],
    ['without input', { uncachedInput: 0 }],
    ['nothing at all', { uncachedInput: 0, output: 0 }],
  ])('ignores the partial usage of a broken stream if it is %s', (_what, odd) => {
    const seen = { ...SEEN, inputTokens: 25, partialUsage: { ...USAGE, ...odd } }
    expect(toBill(MODEL, undefined, seen)).toEqual({
      usage: { ...USAGE, uncachedInput: 25, output: 3 },
      isEstimated: true,
      costNanoUsd: 31_000,
    })
  })

  test('ignores the cost of an incredible usage', () => {
    const bill = toBill(MODEL, { ...USAGE, output: 5e8, reportedCostNanoUsd: 7 }, SEEN)
    expect(bill.isEstimated).toBe(true)
    expect(bill.costNanoUsd).toBeGreaterThan(7)
  })
})
