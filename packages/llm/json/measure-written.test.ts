import fc from 'fast-check'
import { expect, test } from 'vitest'
import { measureWritten } from './measure-written.ts'

test('is at least the length of any text in JSON without its quotes, and the same without escapes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(measureWritten(text)).toBeGreaterThanOrEqual(JSON.stringify(text).length - 2)
    }),
  )
  expect(measureWritten('plain é 😀')).toBe('plain é 😀'.length)
})

test('counts control characters as their escapes, and half surrogate pairs as what they cost', () => {
  expect(measureWritten('\u0001"\\')).toBe(6 + 2 + 2)
  expect(measureWritten('\ud83d')).toBe(65)
})
