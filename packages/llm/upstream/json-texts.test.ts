import { expect, test } from 'vitest'
import type { JsonObject } from '../json/json-value.ts'
import { END_USER_GRANT } from '../testing/outgoing/find-unsendable.ts'
import { JsonTexts } from './json-texts.ts'
import { type Grant, SCALAR, toListRule, toObjectRule } from './outgoing-rules.ts'
import { findReserved } from './reserved-names.ts'

const GRANT: Grant = { ...END_USER_GRANT, addresses: 'any' }

function list(entries: number): string {
  return `[${'{},'.repeat(entries - 1)}{}]`
}

test('objects and lists are read, other texts are returned whatever their length', () => {
  const texts = new JsonTexts()
  expect(texts.read(' {"a":[1]}')).toEqual({ a: [1] })
  expect(texts.read('[a note](https://example.com)')).toBe('[a note](https://example.com)')
  const long = 'x'.repeat(2 * 1024 * 1024)
  expect(texts.read(long)).toBe(long)
})

test.each([
  '{"model":"other","x":NaN}',
  '{"model":"other","x":[-Infinity]}',
  "{'model':'other'}",
  '{model:"other"}',
  '{"model":"other",}',
  '[{"model":"other"},]',
  '{"a":{"model":"y"},"a":1}',
  '{"a":1,"\\u0061":2}',
])('a text in which another parser may read other fields is refused: %s', text => {
  expect(new JsonTexts().read(text)).toBeUndefined()
  expect(findReserved({ extra_body: text })).toBe('extra_body')
})

test.each(['[INST]', '{name}', '[1] see: a', '{{ user }}: hi'])('a plain text is none: %s', text => {
  expect(new JsonTexts().read(text)).toBe(text)
})

test('names in texts of a text are not its own', () => {
  const text = '{"a":"{\\"b\\":1}","c":[{"b":":"}]}'
  expect(new JsonTexts().read(text)).toEqual(JSON.parse(text))
})

test('texts with too many values, or too long together, are not parsed', () => {
  const texts = new JsonTexts()
  expect(texts.read(list(9_000))).toHaveLength(9_000)
  expect(texts.read(list(9_000))).toBeUndefined()
  expect(texts.read(list(1))).toBeUndefined()
  expect(new JsonTexts().read(`["${'x'.repeat(600_000)}"]`)).toBeUndefined()
})

test('a field whose text is too much to read is refused', () => {
  expect(findReserved({ a: list(1_000_000) })).toBe('a')
  expect(findReserved({ a: list(10_000), b: { c: list(10_000) } })).toBe('b.c')
})

test('names count once for each search, so that a sender who is searched for more has the same bound', () => {
  const rule = toObjectRule({ type: SCALAR }, 'reserved')
  const names = Array.from({ length: 8_000 }, (_, at) => [`${'z'.repeat(60)}${at + 1_000}`, 1])
  const value = { type: 'a', novelty: Object.fromEntries(names) as JsonObject }
  for (const sender of ['key', 'trusted_end_user'] as const) {
    expect(rule.check(value, { ...GRANT, sender })).toBeUndefined()
  }
})

test('the parts of one body share the bound, another body has its own', () => {
  const rule = toListRule(toObjectRule({ type: SCALAR }, 'reserved'))
  const grant: Grant = { ...GRANT, sender: 'key' }
  const parts = [{ novelty: list(10_000) }, { novelty: list(10_000) }]
  expect(rule.check(parts, { ...grant })).toBe('[1].novelty')
  expect(rule.check([{ novelty: list(10_000) }], { ...grant })).toBeUndefined()
})
