import { expect, test } from 'vitest'
import { decodeSchema } from './decode-schema.ts'

test('a schema of the older form becomes JSON Schema, also with properties named like keywords', () => {
  expect(
    decodeSchema({
      type: 'OBJECT',
      nullable: true,
      required: ['type'],
      properties: {
        type: { type: 'STRING', format: 'enum', enum: ['A'] },
        nullable: { anyOf: [{ type: 'NUMBER' }], nullable: true },
        list: { type: 'ARRAY', min_items: '2', items: { type: 'INTEGER', nullable: true } },
      },
      propertyOrdering: ['list', 'type'],
    }),
  ).toEqual({
    type: ['object', 'null'],
    required: ['type'],
    properties: {
      type: { type: 'string', enum: ['A'] },
      nullable: { anyOf: [{ anyOf: [{ type: 'number' }] }, { type: 'null' }] },
      list: { type: 'array', minItems: 2, items: { type: ['integer', 'null'] } },
    },
  })
})

test('properties come in the order that is named, each once, and the others behind them', () => {
  const properties = Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [name, { type: 'STRING' }]))
  const decoded = decodeSchema({ properties, propertyOrdering: ['c', 'x', 1, 'a', 'c'] })
  expect(Object.keys(decoded.properties as object)).toEqual(['c', 'a', 'b', 'd'])
})
