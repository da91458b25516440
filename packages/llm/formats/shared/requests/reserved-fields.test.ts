import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { JsonTexts } from '../../../upstream/json-texts.ts'
import { assertNoReservedFields, assertNoReservedOptions, assertNotReservedName } from './reserved-fields.ts'

const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`${'z'.repeat(60)}${at}`, 1]))

test.each<[string, JsonObject, string]>([
  ['a reserved name', { models: 'm' }, 'the gateway authorizes, prices or relies on it'],
  ['a reserved name within another', { 'a.models': 'm' }, 'the gateway authorizes, prices or relies on it'],
  ['more names than are checked', { a: many }, 'up to 524,288 characters of names are checked'],
  ['a name for five nested fields', { 'a.b.c.d.e': 1 }, 'it stands for more than four nested fields'],
  [
    'a text of another language than JSON',
    { a: "{'b': 1}" },
    'its text may have fields that are not checked',
  ],
])('the error says what is the case with %s', (_, fields, reason) => {
  expect(() => assertNoReservedFields(fields, new Set())).toThrow(reason)
  expect(() => assertNoReservedOptions(fields, 'provider_options.p')).toThrow(reason)
})

test('the error of a name alone says what is the case with it', () => {
  expect(() => assertNotReservedName('a.b.c.d.e', 'at', new JsonTexts())).toThrow(
    'more than four nested fields',
  )
})
