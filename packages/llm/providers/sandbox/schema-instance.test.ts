import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../json/json-value.ts'
import { makeInstance } from './schema-instance.ts'

describe('makeInstance', () => {
  test.each<[string, Json, Json]>([
    [
      'required properties only',
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] },
      { a: 'text' },
    ],
    ['all properties where none is named required', { properties: { a: { type: 'boolean' } } }, { a: false }],
    [
      'const and enum',
      { required: ['a', 'b'], properties: { a: { const: 7 }, b: { enum: ['x', 'y'] } } },
      { a: 7, b: 'x' },
    ],
    ['a nullable type', { type: ['null', 'string'] }, 'text'],
    [
      'the first of anyOf, with what stands beside it',
      { required: ['a'], anyOf: [{ properties: { a: { type: 'number' } } }, {}] },
      { a: 0 },
    ],
    ['oneOf', { oneOf: [{ type: 'integer', minimum: 3 }, { type: 'string' }] }, 3],
    [
      'allOf',
      {
        allOf: [
          { properties: { a: { type: 'integer' } }, required: ['a'] },
          { properties: { b: { type: 'null' } }, required: ['b'] },
        ],
      },
      { a: 0, b: null },
    ],
    [
      'local references',
      {
        $ref: '#/$defs/a~1b',
        $defs: {
          'a/b': { type: 'array', items: { $ref: '#/$defs/c' }, minItems: 1 },
          c: { type: 'string', format: 'date' },
        },
      },
      ['2025-01-01'],
    ],
    ['lengths', { type: 'string', minLength: 6, maxLength: 8 }, 'textxx'],
    ['a short maximum', { type: 'string', maxLength: 2 }, 'te'],
    ['minimum', { type: 'integer', minimum: 5 }, 5],
    ['exclusiveMinimum', { type: 'integer', exclusiveMinimum: 5 }, 6],
    ['negative maximum', { type: 'integer', maximum: -3 }, -3],
    ['exclusive negative maximum', { type: 'integer', exclusiveMaximum: -3 }, -4],
    ['a narrow open range', { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 2 }, 1.5],
    ['multipleOf', { type: 'integer', minimum: 7, multipleOf: 5 }, 10],
    [
      'unique items',
      { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true },
      ['text', '1text'],
    ],
    ['prefix items', { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'boolean' }] }, [0, true]],
    ['nothing at all', undefined as unknown as Json, null],
    ['a schema that accepts anything', {}, 'text'],
  ])('%s', (_, schema, expected) => {
    expect(makeInstance(schema)).toEqual(expected)
  })

  test('a schema that needs itself, many times over, ends', () => {
    const node: JsonObject = {
      type: 'object',
      properties: { l: { $ref: '#' }, r: { $ref: '#' } },
      required: ['l', 'r'],
    }
    expect(makeInstance(node)).toHaveProperty('l')
    expect(makeInstance({ anyOf: [{ $ref: '#' }] })).toBeDefined()
    expect(makeInstance({ allOf: [{ $ref: '#' }, { $ref: '#' }] })).toBeDefined()
    expect(makeInstance({ $ref: '#/a', a: { $ref: '#/a' } })).toBeDefined()
  })

  test('a billion items, or characters, are not made', () => {
    const items = makeInstance({
      type: 'array',
      minItems: 1e9,
      items: { type: 'string', minLength: 1e9 },
    }) as string[]
    expect(items.length).toBeLessThanOrEqual(1000)
    expect(items[0]?.length).toBeLessThanOrEqual(1000)
  })

  test('a property named __proto__ is an ordinary one', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
    ) as Json
    expect(JSON.stringify(makeInstance(schema))).toBe('{"__proto__":0}')
  })
})
