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

  test('prices an estimate at the price of thinking, since the answer may have had reasoning', () => {
    const model = { ...MODEL, pricing: { input: 1, output: 2, thinking_output: 6 } }
    expect(toBill(model, undefined, SEEN)).toMatchObject({ usage: { output: 3 }, costNanoUsd: 43_000 })
    expect(toBill(model, USAGE, SEEN).costNanoUsd).toBe(20_000)
  })

  test('prices a usage without reasoning at the price of thinking if the answer shows reasoning', () => {
    const model = { ...MODEL, pricing: { input: 1, output: 2, thinking_output: 6 } }
    const shown = { ...SEEN, hasVisibleReasoning: true }
    const thought = toBill(model, { ...USAGE, output: 0, reasoning: USAGE.output }, SEEN)
    expect(toBill(model, USAGE, shown)).toEqual({ ...thought, usage: USAGE })
    expect(toBill(MODEL, USAGE, shown)).toEqual(toBill(MODEL, USAGE, SEEN))
  })

  test.each([
    ['negative', { uncachedInput: -5 }],
    ['a fraction', { output: 0.5 }],
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

  test('bills two windows if more is reported, in proportion', () => {
    const reported = { ...USAGE, uncachedInput: 300_000, output: 100_000 }
    expect(toBill(MODEL, reported, SEEN)).toEqual({
      usage: { ...USAGE, uncachedInput: 150_000, output: 50_000 },
      isEstimated: true,
      costNanoUsd: 250_000_000,
    })
  })

  test('bills two windows of a broken stream that had reported more', () => {
    const partialUsage = { ...USAGE, uncachedInput: 400_000, output: 0 }
    const { usage, costNanoUsd } = toBill(MODEL, undefined, { ...SEEN, inputTokens: 25, partialUsage })
    expect([usage, costNanoUsd]).toEqual([{ ...USAGE, uncachedInput: 200_000, output: 3 }, 200_006_000])
  })

  test.each([
    ['for each choice', { choices: 2 }, {}],
    ['of a request that reserves as much', { reservedTokens: 400_000 }, {}],
    ['of a request whose input was counted', { inputTokens: 400_000 }, {}],
    ['of a request whose tools ran', {}, { hosted: { uses: 2, nanoUsd: 0 } }],
  ])('believes more %s', (_what, seen, more) => {
    const reported = { ...USAGE, uncachedInput: 395_000, ...more }
    expect(toBill(MODEL, reported, { ...SEEN, ...seen })).toMatchObject({
      usage: reported,
      isEstimated: false,
    })
  })

  test('bills the reported cost of a usage that is too large, unless two windows cost more', () => {
    const reported = { ...USAGE, uncachedInput: 400_000, output: 0 }
    const cost = (nanoUsd: number, model = MODEL): number | null =>
      toBill(model, { ...reported, reportedCostNanoUsd: nanoUsd }, SEEN).costNanoUsd
    expect(cost(390_000_000)).toBe(390_000_000)
    expect(cost(7)).toBe(200_000_000)
    expect(cost(7, { ...MODEL, pricing: null })).toBe(7)
  })

  test.each([{ output: -1 }, { output: 0.5 }, { uncachedInput: Number.MAX_VALUE }])(
    'estimates instead of a usage that cannot be cut: %o',
    odd => {
      const { usage, isEstimated } = toBill(MODEL, { ...USAGE, ...odd, reportedCostNanoUsd: 7 }, SEEN)
      expect([usage, isEstimated]).toEqual([{ ...USAGE, uncachedInput: 25, output: 3 }, true])
    },
  )
})
