import { expect, test } from 'vitest'
import { mergeUsage } from './decode-usage.ts'

test('counts of a later event replace those of an earlier one, and null replaces none', () => {
  const earlier = mergeUsage(
    {},
    { input_tokens: 5, output_tokens: 1, server_tool_use: { web_search_requests: 1 } },
  )
  const merged = mergeUsage(earlier, { input_tokens: null, output_tokens: 7 })
  expect(merged).toEqual({ input_tokens: 5, output_tokens: 7, server_tool_use: { web_search_requests: 1 } })
})

test('what is not counted is not kept, so that no number of events makes the usage large', () => {
  const unknown = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`f${at}`, at]))
  const iterations = Array(30_000).fill({ type: 'compaction', ...unknown, input_tokens: 1 })
  const parts = { cache_creation: { ...unknown, ephemeral_1h_input_tokens: 2 } }
  const merged = mergeUsage({}, { ...unknown, ...parts, iterations, output_tokens: 1, input_tokens: [1] })
  expect(merged).toEqual({
    cache_creation: { ephemeral_1h_input_tokens: 2 },
    iterations: Array(256).fill({ type: 'compaction', input_tokens: 1 }),
    output_tokens: 1,
  })
})
