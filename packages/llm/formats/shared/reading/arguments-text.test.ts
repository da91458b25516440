import { expect, test } from 'vitest'
import type { Json } from '../../../json/json-value.ts'
import { toArgumentsText } from './arguments-text.ts'

test('arguments that are far longer than a call may have are refused before they are encoded', () => {
  const input = { text: 'x'.repeat(8_000_000), list: Array.from({ length: 5_000 }, () => 1) }
  expect(toArgumentsText(input)).toBe(JSON.stringify(input))
  const longer = {
    text: 'x'.repeat(9_000_000),
    toJSON: () => {
      throw new Error('it was encoded')
    },
  }
  expect(() => toArgumentsText(longer as unknown as string)).toThrow(
    expect.objectContaining({ code: 'request_too_large', param: 'messages' }),
  )
})

test('arguments that are nested too deeply to be looked through are an empty object', () => {
  let value: Json = {}
  for (let level = 0; level < 100_000; level++) value = { a: value }
  expect(toArgumentsText(value)).toBe('{}')
})
