import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { Usage } from '../../../usage/usage.ts'
import { encodeUsage } from '../../openai-chat/server/encode-usage.ts'
import { decodeUsage } from './decode-usage.ts'

/** uncachedInput, cacheRead, cacheWrite, output, reasoning */
const buckets = (usage: Usage | undefined) =>
  usage && [usage.uncachedInput, usage.cacheRead, usage.cacheWrite, usage.output, usage.reasoning]

describe('decodeUsage', () => {
  test.each<[string, JsonObject, number[] | undefined, boolean?]>([
    ['the plain three', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, [10, 0, 0, 5, 0]],
    [
      'what only the total includes is reasoning',
      { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 },
      [66, 0, 0, 6, 28],
    ],
    [
      'reasoning beyond the detail, told by the total',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 12 },
      },
      [10, 0, 0, 5, 20],
    ],
    [
      'audio apart from the prompt',
      {
        prompt_tokens: 9,
        completion_tokens: 201,
        total_tokens: 585,
        prompt_tokens_details: { audio_tokens: 375 },
      },
      [384, 0, 0, 201, 0],
    ],
    [
      'audio apart, named beside the counts',
      { prompt_tokens: 9, completion_tokens: 201, total_tokens: 585, audio_tokens: 375 },
      [384, 0, 0, 201, 0],
    ],
    [
      'cached input apart from the prompt',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 105,
        prompt_tokens_details: { cached_tokens: 90 },
      },
      [10, 90, 0, 5, 0],
    ],
    [
      'a total below its parts changes nothing',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 3 },
      [10, 0, 0, 5, 0],
    ],
    [
      'cache and reasoning are parts',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 40 },
      },
      [10, 60, 30, 10, 40],
    ],
    [
      'reasoning apart, told by the provider',
      { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 100 } },
      [10, 0, 0, 5, 100],
      true,
    ],
    [
      'reasoning apart, told by the total',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 18,
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      [10, 0, 0, 5, 3],
    ],
    [
      'reasoning within, told by the total',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      [10, 0, 0, 2, 3],
      true,
    ],
    [
      'more reasoning than completion',
      {
        prompt_tokens: 9,
        completion_tokens: 2,
        total_tokens: 11,
        completion_tokens_details: { reasoning_tokens: 25 },
      },
      [9, 0, 0, 2, 25],
    ],
    [
      'one miscounted',
      {
        prompt_tokens: 43,
        completion_tokens: 10,
        total_tokens: 53,
        completion_tokens_details: { reasoning_tokens: 11 },
      },
      [43, 0, 0, 0, 10],
    ],
    [
      'cache hits under another name',
      {
        prompt_tokens: 10,
        completion_tokens: 1,
        total_tokens: 11,
        prompt_cache_hit_tokens: 8,
        prompt_cache_miss_tokens: 2,
      },
      [2, 8, 0, 1, 0],
    ],
    [
      'cache at the top',
      { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, cached_tokens: 4 },
      [6, 4, 0, 1, 0],
    ],
    ['prompt missing', { completion_tokens: 4, total_tokens: 10 }, [6, 0, 0, 4, 0]],
    ['completion missing (embeddings)', { prompt_tokens: 10, total_tokens: 10 }, [10, 0, 0, 0, 0]],
    ['nothing to go by', { completion_tokens: 4 }, undefined],
    ['all zero', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, undefined],
    [
      'more cached than there was',
      {
        prompt_tokens: 10,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 99, cache_write_tokens: 5 },
      },
      [0, 10, 0, 1, 0],
    ],
    ['an absurd total', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 1e300 }, [10, 0, 0, 5, 0]],
    ['fractions', { prompt_tokens: 9.2, completion_tokens: 5, total_tokens: 14 }, [10, 0, 0, 5, 0]],
    ['negative', { prompt_tokens: -5, completion_tokens: 5, total_tokens: 15 }, [10, 0, 0, 5, 0]],
    ['strings', { prompt_tokens: '10', completion_tokens: '5' }, undefined],
    [
      'details of null',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: null,
        completion_tokens_details: null,
      },
      [10, 0, 0, 5, 0],
    ],
  ])('%s', (_, usage, expected, excludes) => {
    expect(buckets(decodeUsage({ usage }, excludes))).toEqual(expected)
  })

  test('usage under x_groq, and none at all', () => {
    expect(
      buckets(
        decodeUsage({ x_groq: { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } } }),
      ),
    ).toEqual([1, 0, 0, 2, 0])
    for (const usage of [null, undefined, 5, 'x', []] as (Json | undefined)[])
      expect(decodeUsage({ usage })).toBeUndefined()
  })

  test('whatever is sent: whole, non-negative, bounded buckets, or none', () => {
    const any = fc.oneof(
      fc.nat(5000),
      fc.double(),
      fc.integer(),
      fc.constantFrom(null, '5', 1e18, -1),
      fc.object(),
    )
    const usage = fc.record(
      {
        prompt_tokens: any,
        completion_tokens: any,
        total_tokens: any,
        cached_tokens: any,
        prompt_tokens_details: fc.record({ cached_tokens: any, cache_write_tokens: any }),
        completion_tokens_details: fc.record({ reasoning_tokens: any }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(usage, fc.boolean(), (wire, excludes) => {
        for (const bucket of buckets(decodeUsage({ usage: wire as JsonObject }, excludes)) ?? []) {
          expect(Number.isSafeInteger(bucket) && bucket >= 0 && bucket <= 1e9).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('what is encoded decodes to the same, by OpenAI arithmetic', () => {
    const count = fc.integer({ min: 1, max: 1_000_000 })
    fc.assert(
      fc.property(
        fc.record({
          uncachedInput: count,
          cacheRead: count,
          cacheWrite: count,
          output: count,
          reasoning: count,
        }),
        usage => {
          const wire = encodeUsage(usage)
          expect(Number(wire.prompt_tokens) + Number(wire.completion_tokens)).toBe(wire.total_tokens)
          expect(decodeUsage({ usage: wire })).toEqual(usage)
        },
      ),
    )
  })

  test('the tier that the answer was served in is kept where it has a price of its own', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5 }
    for (const tier of ['flex', 'priority'] as const) {
      expect(decodeUsage({ usage, service_tier: tier })?.serviceTier).toBe(tier)
    }
    for (const tier of ['default', 'auto', null, 7]) {
      expect(decodeUsage({ usage, service_tier: tier })).not.toHaveProperty('serviceTier')
    }
  })
})
