import { describe, expect, test } from 'vitest'
import { cutJson } from './cut-json.ts'

const KiB = 1024
const list = (count: number): string[] => Array.from({ length: count }, (_, at) => `openai/model-${at}`)
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

test.each([null, 1, 'text', { a: [1, { b: 'c' }] }, list(50)])(
  '%j within the bound stays as it is',
  value => {
    expect(cutJson(value, KiB)).toBe(value)
  },
)

test('a long list of an object ends with how many entries are left out, and its other fields stay', () => {
  const key = { id: 'k', restrictions: { allowed_models: list(10_000), max_request_cost_usd: 1 }, name: 'n' }
  const cut = cutJson(key, 4 * KiB) as typeof key
  expect(sizeOf(cut)).toBeLessThanOrEqual(4 * KiB)
  expect(Object.keys(cut)).toEqual(['id', 'restrictions', 'name'])
  expect([cut.id, cut.name, cut.restrictions.max_request_cost_usd]).toEqual(['k', 'n', 1])
  const models = cut.restrictions.allowed_models
  expect(models.length).toBeGreaterThan(100)
  expect(models.slice(0, 2)).toEqual(['openai/model-0', 'openai/model-1'])
  expect(models.at(-1)).toBe(`… and ${10_000 - models.length + 1} more`)
})

describe('stays within the bound', () => {
  test.each([
    ['a long text', 'x'.repeat(100 * KiB)],
    ['a text of quotes', '"'.repeat(100 * KiB)],
    ['one long entry', ['x'.repeat(100 * KiB)]],
    ['many fields', Object.fromEntries(list(10_000).map(name => [name, name]))],
    ['two long fields', { before: list(5000), after: list(5000) }],
    ['long names', { ['x'.repeat(50 * KiB)]: 1, y: 2 }],
    ['a field named like a prototype', JSON.parse(`{"__proto__": "${'x'.repeat(50 * KiB)}", "a": 1}`)],
    ['depth', JSON.parse('{"a":'.repeat(50) + JSON.stringify(list(5000)) + '}'.repeat(50))],
  ])('%s', (_, value) => {
    expect(sizeOf(cutJson(value, 4 * KiB))).toBeLessThanOrEqual(4 * KiB)
  })
})
