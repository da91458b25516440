import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countJsonBytes, cutText, cutToJsonBytes, takeChars } from './cut-text.ts'

const HALF_PAIR = /\p{Cs}/u
const wellFormed = fc.string({ unit: 'binary', maxLength: 200 }).map(text => text.replace(/\p{Cs}/gu, '?'))

test('returns a text within the limit unchanged', () => {
  expect(cutText('four', 4)).toBe('four')
  expect(cutToJsonBytes('"é🔑', 8)).toBe('"é🔑')
})

test('ends a longer text with a marker of its original length, also when it is cut again', () => {
  const once = cutText('x'.repeat(100), 50)
  expect(once).toBe(`${'x'.repeat(50)}…[cut: 100 characters]`)
  expect(cutText(once, 10)).toBe(`${'x'.repeat(10)}…[cut: 100 characters]`)
  expect(cutToJsonBytes(once, 50)).toBe(`${'x'.repeat(10)}…[cut: 100 characters]`)
})

test('keeps to the limit if a caller wrote the marker', () => {
  const text = `…[cut: ${'9'.repeat(5000)} characters]`
  expect(cutText(text, 10).length).toBeLessThan(50)
})

test('never leaves half a surrogate pair', () => {
  expect(takeChars('a🔑b', 2)).toBe('a')
  expect(takeChars('a🔑b', 3)).toBe('a🔑')
  fc.assert(
    fc.property(wellFormed, fc.nat(250), (text, max) => {
      expect(cutText(text, max)).not.toMatch(HALF_PAIR)
      expect(cutToJsonBytes(text, max)).not.toMatch(HALF_PAIR)
    }),
    { numRuns: 5000 },
  )
})

test('cuts any text to at most the given bytes of JSON', () => {
  const any = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ maxLength: 300 }))
  fc.assert(
    fc.property(any, fc.integer({ min: 40, max: 600 }), (text, bytes) => {
      const cut = cutToJsonBytes(text, bytes)
      expect(countJsonBytes(cut)).toBeLessThanOrEqual(bytes)
      if (countJsonBytes(text) <= bytes) expect(cut).toBe(text)
    }),
    { numRuns: 5000 },
  )
})
