import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { measureMs } from '../../../testing/measure-ms.ts'
import { listUnknownFields } from './list-unknown-fields.ts'

const named = (count: number, toName: (at: number) => string): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [toName(at), 1]))

test('lists what is not known and has a value by its path, and refuses a reserved name', () => {
  const body = { known: 1, 'a.b': 1, none: null, new: 2 }
  expect(listUnknownFields(body, new Set(['known']), 'x')).toEqual(['x["a.b"]', 'x.new'])
  expect(() => listUnknownFields({ fallback_models: [] }, new Set())).toThrow('may not be set here')
  expect(
    listUnknownFields(
      named(60_000, at => `n${at}`),
      new Set(),
    ),
  ).toHaveLength(60_000)
})

test('refuses a body of more long names, all of which took 90 ms', () => {
  const body = named(60_000, at => `${'ab_cd_ef_g'.repeat(5)}x${at}`)
  const usedMs = measureMs(() => {
    expect(() => listUnknownFields(body, new Set())).toThrow('may not be set here')
  })
  expect(usedMs).toBeLessThan(50)
})
