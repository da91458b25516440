import { expect, test } from 'vitest'
import { parseInnerJson } from './parse-inner-json.ts'

function nest(levels: number, name: string): string {
  return `{"${name}":`.repeat(levels) + 1 + '}'.repeat(levels)
}

test('JSON is parsed, whatever its strings contain', () => {
  expect(parseInnerJson(nest(64, 'a'))).toHaveProperty('a.a.a')
  const flat = { text: '{['.repeat(1000), other: '\\"{'.repeat(1000) }
  expect(parseInnerJson(JSON.stringify(flat))).toEqual(flat)
})

test('what is no JSON throws', () => {
  for (const text of ['', '{', '}'.repeat(100), '"'.repeat(99)]) expect(() => parseInnerJson(text)).toThrow()
})

test('what is nested too deep to be written again throws', () => {
  for (const name of ['a', '}', '\\\\', '\\"}', ']'])
    expect(() => parseInnerJson(nest(20_000, name))).toThrow('64 levels')
  expect(() => parseInnerJson('['.repeat(65) + ']'.repeat(65))).toThrow('64 levels')
})
