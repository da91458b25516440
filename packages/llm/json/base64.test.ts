import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { measureLongestStep } from '../testing/measure-ms.ts'
import { decodeBase64, readFirst, toBase64Json } from './base64.ts'
import { toSentJson } from './unwritten-json.ts'

const MiB = 1_048_576
const toBytes = (body: ReturnType<typeof decodeBase64>): Buffer =>
  'pieces' in body ? Buffer.concat([...body.pieces()]) : body

describe('decodeBase64', () => {
  const plain = fc.uint8Array({ maxLength: 30 }).map(bytes => Buffer.from(bytes).toString('base64'))
  const piece = fc.oneof(plain, fc.constantFrom('A', 'AB', 'ABC', ' ', '\n', '-_', '!', '{}', 'é'))
  // Around the end of a piece, where four digits may be apart.
  const start = fc.integer({ min: 65_500, max: 65_540 }).map(length => 'QUJD'.repeat(17_000).slice(0, length))

  test('makes of a long text what Buffer.from does, whatever stands between the digits', () => {
    fc.assert(
      fc.property(
        start,
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom('', '=', '=='),
        (first, pieces, end) => {
          const text = first + pieces.join('') + end
          const decoded = decodeBase64(text)
          expect(toBytes(decoded).equals(Buffer.from(text, 'base64'))).toBe(true)
          expect(readFirst(decoded).subarray(0, 12)).toEqual(Buffer.from('ABCABCABCABC'))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('ends at the first = as Buffer.from does', () => {
    const text = `${'QUJD'.repeat(20_000)}QQ==\n${'QUJD'.repeat(20_000)}`
    expect(toBytes(decodeBase64(text)).equals(Buffer.from(text, 'base64'))).toBe(true)
  })

  test.each([
    ['digits', 'QUJD'.repeat(8 * MiB)],
    ['blanks', ' '.repeat(32 * MiB)],
    ['what is skipped everywhere', 'Q\n'.repeat(16 * MiB)],
  ])('decodes 32 MiB in short steps: %s', (_, text) => {
    const decoded = decodeBase64(Buffer.from(text).toString('latin1'))
    if (!('pieces' in decoded)) throw new Error('the text is decoded at once')
    const { pieces } = decoded
    expect(
      measureLongestStep(
        (function* (): Generator<void, void> {
          for (const _ of pieces()) yield
        })(),
      ),
    ).toBeLessThan(14)
  })
})

describe('toBase64Json', () => {
  const bytes = Buffer.from(Array.from({ length: 400_001 }, (_, at) => (at * 7) % 251))

  test('writes bytes of any length as base64 behind their head', () => {
    for (const length of [0, 1, 2, 3, 49_152, 49_153, 400_000, 400_001]) {
      const part = bytes.subarray(0, length)
      const value = { a: [toBase64Json(part, 'data:;base64,')], b: toBase64Json(part) }
      const text = part.toString('base64')
      expect(toSentJson(value).toString()).toBe(JSON.stringify({ a: [`data:;base64,${text}`], b: text }))
    }
  })

  test('writes bytes whose pieces have no whole groups of three', () => {
    const pieces = function* (): Generator<Buffer, void> {
      for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000)
    }
    const body = toSentJson({ a: toBase64Json({ pieces }) })
    expect(JSON.parse(body.toString())).toEqual({ a: bytes.toString('base64') })
  })

  test('makes a value of 31 MiB at once, and leaves all else to steps', () => {
    const long = Buffer.alloc(31 * MiB, 'abc')
    expect(
      measureLongestStep(
        (function* (): Generator<void, void> {
          const body = toSentJson({ images: Array.from({ length: 5 }, () => toBase64Json(long)) })
          if (!('pieces' in body)) throw new Error('the body is written at once')
          yield
          for (const _ of body.pieces()) yield
        })(),
      ),
    ).toBeLessThan(14)
  })
})
