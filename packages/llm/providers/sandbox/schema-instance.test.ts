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

  describe('takes a bounded number of steps', () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `name${at}`)
    const times = (count: number, part: Json): Json[] => Array.from({ length: count }, () => part)

    test.each<[string, (size: number) => JsonObject]>([
      ['many conjunctions', size => ({ required: names(size), allOf: times(size, {}) })],
      [
        'many references to an entry of a long list',
        size => ({ big: times(size, 0), allOf: times(size, { $ref: '#/big/0' }) }),
      ],
      [
        'many references to a long name list',
        size => ({
          d: { properties: Object.fromEntries(names(size).map(name => [name, {}])), required: names(size) },
          allOf: times(size, { $ref: '#/d' }),
        }),
      ],
      [
        'items that each refer to long lists of alternatives',
        size => ({
          d: { anyOf: times(size, 0), oneOf: times(size, 0) },
          minItems: size,
          items: { $ref: '#/d' },
        }),
      ],
      ['items with many types', size => ({ minItems: size, items: { type: times(size, 'null') } })],
      ['references of many steps', size => ({ allOf: times(size, { $ref: `#${'/a'.repeat(500)}` }) })],
      ['parts that double at each level', () => ({ allOf: [{ $ref: '#' }, { $ref: '#' }] })],
    ])('%s', (_, toSchema) => {
      for (const size of [2_000, 8_000]) {
        const counted = countReads(toSchema(size))
        makeInstance(counted.value)
        expect(counted.reads()).toBeLessThan(500_000)
      }
    })

    test('names that many conjunctions repeat are counted each time', () => {
      const made = makeInstance({ required: names(4_000), allOf: times(4_000, { required: names(4) }) })
      expect(Object.keys(made as JsonObject).length).toBeLessThan(4_000)
    })

    test.each<[string, Json]>([
      ['a constant', { const: ['x'.repeat(1000)] }],
      ['a value of an enum', { enum: [times(1000, 1)] }],
      ['a string of a least length', { type: 'string', minLength: 1000 }],
      ['a name', { required: ['n'.repeat(1000)] }],
    ])('%s that many items repeat ends as null', (_, items) => {
      const made = makeInstance({ type: 'array', minItems: 1000, items })
      expect(JSON.stringify(made).length).toBeLessThan(700_000)
      expect(makeInstance({ const: 'x'.repeat(1_000_000) })).toBeNull()
    })

    test('a reference of more than 1,024 characters leads nowhere', () => {
      const toSchema = (name: string): JsonObject => ({ [name]: { const: 1 }, $ref: `#/${name}` })
      expect(makeInstance(toSchema('a'.repeat(1022)))).toBe(1)
      expect(makeInstance(toSchema('a'.repeat(1023)))).toBeNull()
    })
  })
})

/** The value, and how often something of it was read. */
function countReads(value: Json): { readonly value: Json; reads(): number } {
  let reads = 0
  const wrap = (given: unknown): unknown =>
    typeof given !== 'object' || given === null
      ? given
      : new Proxy(given, {
          get(target, name) {
            reads++
            return wrap(Reflect.get(target, name))
          },
          ownKeys(target) {
            const keys = Reflect.ownKeys(target)
            reads += keys.length
            return keys
          },
        })
  return { value: wrap(value) as Json, reads: () => reads }
}
