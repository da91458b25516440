import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from '../json/json-value.ts'
import { estimateMaxTokens } from './estimate.ts'
import { LongTexts, type RandomBytes } from './long-texts.ts'

/** The same places at every run (xorshift). */
function seeded(seed: number): RandomBytes {
  let state = seed | 1
  const next = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state
  }
  return {
    bytes(length) {
      const bytes = Buffer.alloc(length)
      for (let at = 0; at < length; at += 4) bytes.writeInt32LE(next(), at)
      return bytes
    },
  }
}

/** What all characters weigh, a piece at a time. */
function weighExactly(texts: readonly string[]): { tokens: number; bytes: number } {
  let [tokens, bytes] = [0, 0]
  for (const text of texts) {
    bytes += Buffer.byteLength(text)
    for (let at = 0; at < text.length; at += 500_000)
      tokens += estimateMaxTokens(text.slice(at, at + 500_000))
  }
  return { tokens, bytes }
}

function weigh(texts: readonly string[], random: RandomBytes) {
  const long = new LongTexts()
  for (const text of texts) long.add(text)
  return long.weigh(random)
}

/** Kinds of text, from the fewest tokens a character to the most. */
const KINDS = [
  'the fox ',
  'The Fox Of ',
  'ПРИВЕТ, мир ',
  '3141592653',
  '{}[]%#!?',
  '人工智能',
  '😀',
  'iVBORw0KGgoAAAANS',
]
const run = fc.record({ kind: fc.constantFrom(...KINDS), chars: fc.integer({ min: 1, max: 40_000 }) })
const mixture = fc.array(run, { minLength: 1, maxLength: 12 })

/** Texts of a mixture's runs, repeated until they have so many characters. */
function toTexts(runs: readonly { kind: string; chars: number }[], chars: number, isOne: boolean): string[] {
  const pieces = runs.map(({ kind, chars: length }) => kind.repeat(Math.ceil(length / kind.length)))
  const texts: string[] = []
  for (let sum = 0; sum < chars; ) {
    for (const piece of pieces) {
      texts.push(piece)
      sum += piece.length
    }
  }
  return isOne ? [texts.join('')] : texts
}

describe('texts of more than a million characters', () => {
  test('have an estimate that is no lower than what all their characters weigh, and a few per cent higher at most', () => {
    const seeds = fc.integer({ min: 1, max: 2 ** 31 })
    fc.assert(
      fc.property(
        mixture,
        fc.boolean(),
        fc.integer({ min: 1_100_000, max: 4_000_000 }),
        seeds,
        (runs, isOne, chars, seed) => {
          const texts = toTexts(runs, chars, isOne)
          const exact = weighExactly(texts)
          const { bytes, sixteenths, mostSixteenths } = weigh(texts, seeded(seed))
          // Each text is rounded up here.
          expect(mostSixteenths / 16 + texts.length).toBeGreaterThan(exact.tokens * 0.9995)
          expect(mostSixteenths / 16).toBeLessThan(exact.tokens * 1.06)
          expect(Math.abs(sixteenths / 16 / exact.tokens - 1)).toBeLessThan(0.03)
          expect(Math.abs(bytes / exact.bytes - 1)).toBeLessThan(0.03)
        },
      ),
      { numRuns: 30, seed: 1 },
    )
  })

  test('are hardly ever below it, even where they vary most', () => {
    // Emoji in a sixth of the places, in runs longer than a block.
    const text = `${'😀'.repeat(100)}${'a'.repeat(1_000)}`.repeat(1_300)
    const { tokens } = weighExactly([text])
    const random = seeded(7)
    const ratios = Array.from({ length: 200 }, () => weigh([text], random).mostSixteenths / 16 / tokens)
    expect(ratios.filter(ratio => ratio < 1)).toEqual([])
    expect(Math.max(...ratios)).toBeLessThan(1.08)
  })

  test('are read at places that depend on the random bytes alone', () => {
    const text = `${'a'.repeat(1_000)}${'😀'.repeat(200)}`.repeat(1_000)
    expect(weigh([text], seeded(1))).not.toEqual(weigh([text], seeded(2)))
    expect(weigh([text], seeded(1))).toEqual(weigh([text], seeded(1)))
  })
})

test('texts of up to a million characters are weighed whole', () => {
  const texts = ['The fox 42 %', '人工智能', '😀'.repeat(1_000), '', 'a'.repeat(1_000_000)]
  const { bytes, sixteenths, mostSixteenths } = weigh(texts, seeded(1))
  expect(mostSixteenths).toBe(sixteenths)
  const exact = weighExactly(texts)
  expect(bytes).toBe(exact.bytes)
  expect(Math.abs(sixteenths / 16 - exact.tokens)).toBeLessThan(texts.length)
})

describe('a value that would be written as JSON', () => {
  const weighJson = (value: Json) => {
    const long = new LongTexts()
    long.addJson(value)
    return long.weigh(seeded(1))
  }

  test('has integers of their length, signs included', () => {
    const integers = [0, -0, 7, -1, -10, 99, -123_456, 1e20, -1e20]
    expect(weighJson(integers).bytes).toBe(JSON.stringify(integers).length)
  })

  test('has fractions of their length up to 16,384 of them, and of 24 characters beyond', () => {
    expect(weighJson(Array.from({ length: 16_384 }, () => 12.5)).bytes).toBe(16_384 * 5 + 1)
    expect(weighJson(Array.from({ length: 20_000 }, () => 12.5)).bytes).toBe(16_384 * 5 + 1 + 3_616 * 25)
  })

  test('weighs what its JSON does', () => {
    // JSON writes the largest integers with an exponent.
    const values = fc
      .jsonValue({ stringUnit: 'binary' })
      .filter(value => !/\de\+/.test(JSON.stringify(value)))
    fc.assert(
      fc.property(values, value => {
        const text = JSON.stringify(value)
        const { bytes, sixteenths } = weighJson(value as Json)
        expect(bytes).toBe(Buffer.byteLength(text))
        expect(sixteenths / 16).toBeGreaterThan(estimateMaxTokens(text) - 1)
        expect(sixteenths / 16).toBeLessThan(estimateMaxTokens(text) * 1.5 + 2)
      }),
      { numRuns: 100, seed: 1 },
    )
  })

  test('weighs its escapes', () => {
    const value = { text: '"\\\n\t\u0001<é人😀'.repeat(50), list: [1, 23, true, false, null, 'a'] }
    const text = JSON.stringify(value)
    const { bytes, sixteenths } = weighJson(value)
    expect(bytes).toBe(Buffer.byteLength(text))
    expect(Math.abs(sixteenths / 16 / estimateMaxTokens(text) - 1)).toBeLessThan(0.01)
  })
})
