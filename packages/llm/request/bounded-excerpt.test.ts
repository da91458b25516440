import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Fault } from '../../server/core/fault.ts'
import { excerpt, excerptName } from './bounded-excerpt.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', '😀', 'a') }),
)
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

describe('excerpt', () => {
  test('any text, any length: well-formed, no longer, and the same where it fits and is well-formed', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, max) => {
        const kept = excerpt(text, max)
        expect(kept.length).toBeLessThanOrEqual(max)
        expect(isWellFormed(kept)).toBe(true)
        if (text.length <= max && isWellFormed(text)) expect(kept).toBe(text)
        if (text.length > max) expect(kept.endsWith('…')).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('a pair of surrogates is kept or left out as a whole', () => {
    expect(excerpt('a😀b', 3)).toBe('a…')
    expect(excerpt('a😀b', 4)).toBe('a😀b')
    expect(excerpt('ab😀cd', 5)).toBe('ab😀…')
  })

  test('a name of a caller keeps 64 characters', () => {
    expect(excerptName('k'.repeat(64))).toBe('k'.repeat(64))
    expect(excerptName('k'.repeat(65))).toBe(`${'k'.repeat(63)}…`)
  })
})

describe('Fault', () => {
  test('any message and param: well-formed, at most 1,000 and 256 characters, and below 8 KB as JSON', () => {
    const long = fc.oneof(
      anyText,
      fc.constantFrom('\u0000', '"', '\\', '\ud800', '😀', 'é').map(unit => unit.repeat(100_000)),
    )
    fc.assert(
      fc.property(long, long, (message, param) => {
        const fault = new Fault('invalid_request', message, { param })
        expect(fault.message.length).toBeLessThanOrEqual(1_000)
        expect(fault.param?.length).toBeLessThanOrEqual(256)
        expect(isWellFormed(fault.message + fault.param)).toBe(true)
        expect(Buffer.byteLength(JSON.stringify([fault.message, fault.param]))).toBeLessThan(8_000)
      }),
      { numRuns: 500 },
    )
  })
})
