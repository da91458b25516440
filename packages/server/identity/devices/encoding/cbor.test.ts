import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CborInput, cborHead, encodeCbor } from '../../../testing/fakes/cbor-writer.ts'
import { decodeCbor, decodeCborAt } from './cbor.ts'
import { InvalidDeviceError } from './invalid-device-error.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

const scalar = fc.oneof(
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
)
const key = fc.oneof(fc.string({ maxLength: 8 }), fc.integer())
const value: fc.Arbitrary<CborInput> = fc.letrec<{ value: CborInput }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(entries => new Map(entries)),
  ),
})).value

test('decodes what was encoded, alone and among other bytes', () => {
  fc.assert(
    fc.property(value, fc.uint8Array({ maxLength: 9 }), (given, others) => {
      const bytes = encodeCbor(given)
      expect(decodeCbor(bytes)).toEqual(given)
      const around = Buffer.concat([Buffer.from(others), bytes, Buffer.from(others)])
      expect(decodeCborAt(around, others.length)).toEqual({
        value: given,
        end: others.length + bytes.length,
      })
    }),
  )
})

test('rejects each beginning of an item, and each item that bytes follow', () => {
  fc.assert(
    fc.property(value, fc.double({ min: 0, max: 1, maxExcluded: true }), (given, share) => {
      const bytes = encodeCbor(given)
      const cut = bytes.subarray(0, Math.floor(bytes.length * share))
      expect(() => decodeCbor(cut)).toThrow(InvalidDeviceError)
      expect(() => decodeCbor(Buffer.concat([bytes, hex('00')]))).toThrow('bytes follow its end')
    }),
  )
})

test('decodes random bytes or rejects them, and nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      try {
        const decoded = decodeCbor(Buffer.from(bytes))
        // One item has one spelling, so what is accepted is what would be written.
        expect(encodeCbor(decoded as CborInput)).toEqual(Buffer.from(bytes))
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidDeviceError)
      }
    }),
    { numRuns: 3000 },
  )
})

describe('rejects', () => {
  test.each([
    ['a number in two bytes that fits one', '18 17', 'more bytes than it needs'],
    ['a number in three bytes that fits two', '19 00ff', 'more bytes than it needs'],
    ['a number in five bytes that fits three', '1a 0000ffff', 'more bytes than it needs'],
    ['a number in nine bytes that fits five', '1b 00000000ffffffff', 'more bytes than it needs'],
    ['a length in more bytes than it needs', '58 01 00', 'more bytes than it needs'],
    ['a number that JavaScript cannot hold', '1b 0020000000000000', 'too large'],
    ['bytes of indefinite length', '5f 41 00 ff', 'indefinite'],
    ['a map of indefinite length', 'bf ff', 'indefinite'],
    ['reserved information', '1c', 'indefinite'],
    ['a duplicate text key', 'a2 61 61 01 61 61 02', 'twice'],
    ['a duplicate number key', 'a2 01 01 01 02', 'twice'],
    ['a key of bytes', 'a1 41 00 01', 'no text or number'],
    ['a list as a key', 'a1 80 01', 'no text or number'],
    ['text that is not UTF-8', '61 ff', 'UTF-8'],
    ['text with half of a surrogate pair', '63 eda080', 'UTF-8'],
    ['a tag', 'c0 00', 'tag'],
    ['a floating-point number', 'f9 0000', 'unknown kind'],
    ['undefined', 'f7', 'unknown kind'],
    ['nothing', '', 'cut'],
  ])('%s', (_, bytes, reason) => {
    expect(() => decodeCbor(hex(bytes))).toThrow(reason)
  })

  test.each([
    ['bytes of 4 GiB', cborHead(2, 2 ** 32)],
    ['text of 2^52 bytes', cborHead(3, 2 ** 52)],
    ['a list of 2^52 items', cborHead(4, 2 ** 52)],
    ['a map of 2^52 items', cborHead(5, 2 ** 52)],
  ])('%s that are not there', (_, bytes) => {
    expect(() => decodeCbor(bytes)).toThrow('cut')
  })

  test('lists that are nested more than six deep', () => {
    expect(decodeCbor(hex(`${'81'.repeat(6)}00`))).toEqual([[[[[[0]]]]]])
    expect(() => decodeCbor(hex(`${'81'.repeat(7)}00`))).toThrow('nested too deeply')
    expect(() => decodeCbor(Buffer.alloc(1024 * 1024, 0x81))).toThrow('nested too deeply')
  })

  test('more than 256 items, however long the bytes are', () => {
    const toList = (count: number): Buffer => Buffer.concat([cborHead(4, count), Buffer.alloc(count)])
    expect(decodeCbor(toList(255))).toHaveLength(255)
    expect(() => decodeCbor(toList(256))).toThrow('too many items')
    expect(() => decodeCbor(toList(1024 * 1024))).toThrow('too many items')
  })
})

test('keys such as __proto__ are keys like others', () => {
  const map = new Map<string, CborInput>([
    ['__proto__', 1],
    ['constructor', 2],
  ])
  expect(decodeCbor(encodeCbor(map))).toEqual(map)
})
