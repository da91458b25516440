import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from './json-value.ts'
import { PartCounter } from './part-counter.ts'

/** Names, strings, objects and lists of a value. */
function countParts(value: Json | undefined): number {
  if (typeof value === 'string') return 1
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + countParts(each), 1)
  return Object.values(value).reduce((sum: number, each) => sum + 1 + countParts(each), 1)
}

test('any JSON text, in pieces of any size: its names, strings, objects and lists, and a sixteenth of its commas', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 30 }), (value, size) => {
      const text = JSON.stringify(value)
      const counter = new PartCounter()
      for (let at = 0; at < text.length; at += size) counter.add(text, at, Math.min(text.length, at + size))
      const parts = countParts(value as Json)
      expect(counter.count).toBeGreaterThanOrEqual(parts)
      expect(counter.count).toBeLessThanOrEqual(parts + (text.length >> 4))
    }),
    { numRuns: 2_000 },
  )
})

test('numbers count too, and a text that ends within a string does not hide the next one', () => {
  const counter = new PartCounter()
  const numbers = `[${Array(3_200).fill(1).join()}]`
  counter.add(numbers, 0, numbers.length)
  expect(counter.count).toBe(1 + 199)
  counter.add('"open \\', 0, 7)
  counter.end()
  counter.add('{}', 0, 2)
  expect(counter.count).toBe(1 + 199 + 2)
})

test('escapes of half surrogate pairs count as a half each, in pieces of any size', () => {
  const text = String.raw`["\ud800\uDFFF\udbff\u00e9\ud7ff\ue000\\ud800d8"]`
  for (let size = 1; size < text.length; size++) {
    const counter = new PartCounter()
    for (let at = 0; at < text.length; at += size) counter.add(text, at, Math.min(text.length, at + size))
    expect(counter.count).toBe(2 + 1)
  }
})
