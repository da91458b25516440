import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeUsage } from '../formats/shared/answers/decode-usage.ts'
import { costNanoUsd } from './pricing.ts'
import type { Usage } from './usage.ts'

const NOTHING: Usage = { uncachedInput: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

describe('costNanoUsd', () => {
  test.each<[string, Partial<Usage>, Parameters<typeof costNanoUsd>[1], number]>([
    // Invoices that other gateways got wrong: cache counted twice, or at the wrong price.
    [
      'cache write: $0.054399 of 3 + 12,304 written + 550',
      { uncachedInput: 3, cacheWrite: 12_304, output: 550 },
      { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
      54_399_000,
    ],
    [
      'cache read: 44,341 of which 41,518 cached',
      { uncachedInput: 2823, cacheRead: 41_518 },
      { input: 1.4, output: 4.4, cache_read: 0.26 },
      14_746_880,
    ],
    [
      'nearly all cached: 27,147 of which 27,146',
      { uncachedInput: 1, cacheRead: 27_146, output: 351 },
      { input: 1.4, output: 4.4, cache_read: 0.26 },
      8_603_760,
    ],
    [
      'audio: what of the input was heard, at its own price',
      { uncachedInput: 1000, audioInput: 800, output: 10 },
      { input: 0.3, output: 2.5, audio_input: 1 },
      885_000,
    ],
    [
      'audio without a price of its own: as any other input',
      { uncachedInput: 1000, audioInput: 800 },
      { input: 0.3, output: 2.5 },
      300_000,
    ],
    [
      'flex, as the answer says: its own prices',
      { uncachedInput: 1000, cacheRead: 200, output: 100, serviceTier: 'flex' },
      { input: 2, output: 8, cache_read: 0.5, tiers: { flex: { input: 1, output: 4, cache_read: 0.25 } } },
      1_450_000,
    ],
    [
      'a tier without a known price: the usual one',
      { uncachedInput: 1000, serviceTier: 'priority' },
      { input: 2, output: 8, tiers: { flex: { input: 1, output: 4 } } },
      2_000_000,
    ],
    [
      'priority in a long context: as many times dearer as without',
      { uncachedInput: 1000, output: 10, serviceTier: 'priority' },
      {
        input: 1,
        output: 2,
        long_context: [{ over_input_tokens: 500, input: 2, output: 4 }],
        tiers: { priority: { input: 2, output: 6 } },
      },
      4_120_000,
    ],
    [
      'audio in a long context: never below what its text costs',
      { uncachedInput: 1000, audioInput: 800 },
      {
        input: 1,
        output: 2,
        audio_input: 1.5,
        long_context: [{ over_input_tokens: 500, input: 2, output: 4 }],
      },
      2_000_000,
    ],
    [
      'kept for an hour: at its own price',
      { cacheWrite: 1, cacheWrite1h: 10 },
      { input: 3, output: 15, cache_write: 3.75, cache_write_1h: 6 },
      63_750,
    ],
    [
      'kept for an hour without a price of its own: as any other write',
      { cacheWrite1h: 10 },
      { input: 3, output: 15, cache_write: 3.75 },
      37_500,
    ],
    [
      'a fee for the request is added to its tokens, also in a long context',
      { uncachedInput: 200 },
      {
        input: 1,
        output: 2,
        per_request: 0.012,
        long_context: [{ over_input_tokens: 100, input: 2, output: 4 }],
      },
      12_400_000,
    ],
    [
      'input by length: the last price whose threshold it exceeds',
      { uncachedInput: 200 },
      {
        input: 1,
        output: 2,
        long_context: [
          { over_input_tokens: 100, input: 2, output: 4 },
          { over_input_tokens: 199, input: 3, output: 6 },
          { over_input_tokens: 200, input: 9, output: 9 },
        ],
      },
      600_000,
    ],
    [
      'all output of an answer with reasoning, at the price of thinking',
      { output: 1, reasoning: 2 },
      { input: 1, output: 10, thinking_output: 30 },
      90_000,
    ],
    [
      'output without reasoning, at the usual price',
      { output: 3 },
      { input: 1, output: 10, thinking_output: 30 },
      30_000,
    ],
    ['reasoning is priced as output', { output: 1, reasoning: 2 }, { input: 1, output: 10 }, 30_000],
    [
      'cache without a price of its own is priced as input',
      { cacheRead: 1, cacheWrite: 1 },
      { input: 2, output: 10 },
      4000,
    ],
    [
      'rounded up, once',
      { uncachedInput: 1, cacheRead: 1 },
      { input: 0.0001, output: 0, cache_read: 0.0001 },
      1,
    ],
    ['six decimals', { uncachedInput: 1_000_000 }, { input: 0.003625, output: 1 }, 3_625_000],
    ['0.1 + 0.2', { uncachedInput: 1_000_000, output: 1_000_000 }, { input: 0.1, output: 0.2 }, 300_000_000],
    ['nothing used', {}, { input: 1, output: 1 }, 0],
  ])('%s', (_, usage, pricing, expected) => {
    expect(costNanoUsd({ ...NOTHING, ...usage }, pricing)).toBe(expected)
  })

  test('the larger invoice from the wire: cached tokens are charged once', () => {
    const usage = decodeUsage({
      usage: {
        prompt_tokens: 262_960,
        completion_tokens: 1744,
        total_tokens: 264_704,
        prompt_tokens_details: { cached_tokens: 257_955 },
      },
    })
    expect(usage && costNanoUsd(usage, { input: 1.25, output: 10, cache_read: 0.625 })).toBe(184_918_125)
  })

  test('an unknown price is unknown, never zero', () => {
    expect(costNanoUsd({ ...NOTHING, output: 5 }, null)).toBeNull()
  })

  test('a long context costs its own prices, the whole request, from the first token over', () => {
    const pricing = { input: 1, output: 2, long_context: [{ over_input_tokens: 100, input: 10, output: 20 }] }
    expect(costNanoUsd({ ...NOTHING, uncachedInput: 40, cacheRead: 60, output: 1 }, pricing)).toBe(102_000)
    expect(costNanoUsd({ ...NOTHING, uncachedInput: 41, cacheRead: 60, output: 1 }, pricing)).toBe(1_030_000)
  })

  test('any usage, any price: the exact sum rounded up', () => {
    const tokens = fc.oneof(fc.nat(1000), fc.nat(1_000_000_000))
    const price = fc.nat(1_000_000_000)
    fc.assert(
      fc.property(
        tokens,
        tokens,
        tokens,
        tokens,
        tokens,
        price,
        price,
        price,
        price,
        (a, b, c, d, e, p, q, r, s) => {
          const usage = { uncachedInput: a, cacheRead: b, cacheWrite: c, output: d, reasoning: e }
          const pricing = { input: p / 1e6, output: q / 1e6, cache_read: r / 1e6, cache_write: s / 1e6 }
          const units =
            BigInt(a) * BigInt(p) + BigInt(b) * BigInt(r) + BigInt(c) * BigInt(s) + BigInt(d + e) * BigInt(q)
          expect(costNanoUsd(usage, pricing)).toBe(Number((units + 999n) / 1000n))
        },
      ),
      { numRuns: 2000 },
    )
  })
})
