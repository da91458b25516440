import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { isEncodable } from './claude-schema.ts'

const TEXT = { type: 'string' }
const MAP = { type: 'object', additionalProperties: TEXT }

test.each<[string, JsonObject]>([
  ['a map', MAP],
  ['a map of anything', { type: 'object', additionalProperties: true }],
  ['a map of anything, as a schema', { type: 'object', additionalProperties: {} }],
  ['a map beside named properties', { type: 'object', properties: { a: TEXT }, additionalProperties: TEXT }],
  ['properties by patterns', { type: 'object', patternProperties: { '^x': TEXT } }],
  ['a map in a property', { type: 'object', properties: { a: MAP } }],
  ['a map in a list', { type: 'array', items: MAP }],
  ['a map among alternatives', { anyOf: [TEXT, MAP] }],
  ['a map in a definition', { $ref: '#/$defs/m', $defs: { m: MAP } }],
])('a schema with %s is not encodable', (_title, schema) => {
  expect(isEncodable(schema)).toBe(false)
})

test.each<[string, JsonObject]>([
  ['named properties', { type: 'object', properties: { a: TEXT }, additionalProperties: false }],
  [
    'named properties, open to others',
    { type: 'object', properties: { a: TEXT }, additionalProperties: true },
  ],
  ['a property called like a keyword', { type: 'object', properties: { additionalProperties: TEXT } }],
  ['no properties', { type: 'object' }],
])('a schema with %s is encodable', (_title, schema) => {
  expect(isEncodable(schema)).toBe(true)
})
