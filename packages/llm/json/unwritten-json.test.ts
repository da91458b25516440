import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Json } from './json-value.ts'
import { toSentJson, toSentText, UnwrittenJson } from './unwritten-json.ts'

/** Characters with and without escapes, pairs of surrogates and halves of them. */
const unit = fc.oneof(
  fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '€', '\ud83d', '\ude00', '😀'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const text = fc.string({ unit, maxLength: 40 })
const anyValue = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(text, fc.double(), fc.constantFrom(null, true, '', -0)),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', '1', '0')), tie('value'), { maxKeys: 6 }),
  ),
})).value

const write = (value: Json, piece: number): string =>
  Buffer.concat([...new UnwrittenJson([{ value }]).pieces(piece)]).toString('latin1')

describe('UnwrittenJson', () => {
  test('writes any value as JSON.stringify does, whatever the size of its pieces', () => {
    fc.assert(
      fc.property(anyValue, fc.oneof(fc.integer({ min: 2, max: 200 }), fc.constant(2)), (value, piece) => {
        expect(write(value, piece)).toBe(Buffer.from(JSON.stringify(value)).toString('latin1'))
      }),
      { numRuns: 3_000 },
    )
  })

  test('leaves out fields without a value, and writes null for such members of a list', () => {
    const value = { a: undefined, b: [undefined, 'x'.repeat(300)], c: { d: undefined } } as unknown as Json
    for (const piece of [2, 100, 1_000]) expect(write(value, piece)).toBe(JSON.stringify(value))
  })

  test('writes pieces of a bounded length, and few of them', () => {
    const values: Json[] = [
      '\u0001'.repeat(1_000_000),
      Array.from({ length: 100_000 }, () => 1),
      Array.from({ length: 20_000 }, (_, at) => ({ [`k${at}`]: { text: 'x'.repeat(50) } })),
      { deep: [[['x'.repeat(500_000), 'y'.repeat(500_000)]]] },
    ]
    for (const value of values) {
      const pieces = [...new UnwrittenJson([{ value }]).pieces()]
      const { length } = JSON.stringify(value)
      expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThan(600_000)
      expect(pieces.length).toBeLessThan(3 + length / 32_768)
      expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify(value))
    }
  })

  test('yields bytes that were written before as they are, in parts of what they are', () => {
    const bytes = Buffer.alloc(2_000_000, 'x')
    const pieces = [...new UnwrittenJson([Buffer.from('['), { value: 'a' }, bytes]).pieces()]
    expect(Buffer.concat(pieces).toString()).toBe(`["a"${bytes.toString()}`)
    expect(pieces.at(-1)?.buffer).toBe(bytes.buffer)
    expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThan(600_000)
  })
})

describe('toSentJson', () => {
  test.each<[string, Json[]]>([
    ['a text', ['x'.repeat(255 * 1024), 'é']],
    ['digits', Array.from({ length: 127 * 1024 }, () => 1)],
    ['empty objects', Array.from({ length: 85 * 1024 }, () => ({}))],
    ['short names', Array.from({ length: 31 * 1024 }, () => ({ a: 1 }))],
  ])('writes a value of 256 KiB in one go: %s', (_, list) => {
    const texts: string[] = []
    const body = toSentJson(list, value => {
      texts.push(JSON.stringify(value))
      return texts.at(-1) as string
    })
    expect(body).toBeInstanceOf(Buffer)
    expect(body.toString() === texts[0]).toBe(true)
    expect(texts).toHaveLength(1)
  })

  test('leaves a longer one unwritten', () => {
    const value = { a: 'é'.repeat(600 * 1024) }
    const body = toSentJson(value)
    expect(body).toBeInstanceOf(UnwrittenJson)
    expect(body.toString()).toBe(JSON.stringify(value))
  })
})

test('toSentText puts texts and values together, long and short ones', () => {
  const long = { text: 'x'.repeat(600 * 1024) }
  expect(toSentText(['data: ', { value: { a: 1 } }, '\n\n'])).toEqual(Buffer.from('data: {"a":1}\n\n'))
  const body = toSentText(['data: ', { value: long }, '\n\n'])
  expect(body).toBeInstanceOf(UnwrittenJson)
  expect(body.toString()).toBe(`data: ${JSON.stringify(long)}\n\n`)
})
