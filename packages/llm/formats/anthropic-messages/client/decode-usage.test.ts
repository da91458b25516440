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
  const iterations = Array.from({ length: 30_000 }, () => ({ type: 'message' }))
  const merged = mergeUsage({}, { ...unknown, iterations, output_tokens: 1 })
  expect(Object.keys(merged).sort()).toEqual(['iterations', 'output_tokens'])
  expect(merged.iterations).toHaveLength(256)
})
