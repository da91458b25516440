import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  boolean,
  der,
  explicit,
  integer,
  objectIdentifier,
  octets,
  sequence,
} from '../../../testing/fakes/der-writer.ts'
import {
  INTEGER,
  readElement,
  readElements,
  readList,
  SEQUENCE,
  toBoolean,
  toNumber,
  toObjectIdentifier,
} from './der.ts'
import { InvalidDeviceError } from './invalid-device-error.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const first = (bytes: Buffer) => readElements(bytes)[0]

test('reads elements of each length, with their own bytes and their content', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 70_000 }), { maxLength: 4 }), lengths => {
      const parts = lengths.map(length => octets(Buffer.alloc(length, 7)))
      const read = readList(sequence(...parts), SEQUENCE)
      expect(read.map(({ content }) => content.length)).toEqual(lengths)
      expect(read.every(({ whole }, index) => parts[index]?.equals(whole))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('reads numbers, object identifiers and long tags as they were written', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.nat(), { maxLength: 6 }), fc.nat(100_000), (number, arcs, tag) => {
      expect(toNumber(first(integer(number)), INTEGER)).toBe(number)
      const id = ['1', '3', ...arcs.map(String)].join('.')
      expect(toObjectIdentifier(first(objectIdentifier(id)))).toBe(id)
      expect(first(explicit(tag, octets('x')))).toMatchObject({ number: tag, content: octets('x') })
    }),
  )
  for (const id of ['2.5.29.19', '0.39', '1.39', '2.40', '2.999', '2.48.1', `1.3.${2 ** 49 - 1}`]) {
    expect(toObjectIdentifier(first(objectIdentifier(id)))).toBe(id)
  }
  expect([toBoolean(first(boolean(true))), toBoolean(first(boolean(false)))]).toEqual([true, false])
})

describe('rejects', () => {
  test.each([
    ['an indefinite length', '30 80 00 00'],
    ['a length in two bytes that fits one', '04 81 01 00'],
    ['a length in three bytes that fits two', `04 82 00 ff ${'00'.repeat(255)}`],
    ['a length of four bytes', '04 84 00 00 00 01 00'],
    ['a length that is cut', '04 82 01'],
    ['content that is cut', '04 02 00'],
    ['a tag without a length', '30'],
    ['a long tag that fits one byte', 'bf 1e 00'],
    ['a long tag with a leading zero', 'bf 80 01 00'],
    ['a long tag that does not end', 'bf ff ff ff ff ff ff ff ff 00'],
  ])('%s', (_, bytes) => {
    expect(() => readElements(hex(bytes))).toThrow(InvalidDeviceError)
  })

  test.each([
    ['no digit', '02 00'],
    ['a negative number', '02 01 80'],
    ['a leading zero', '02 02 00 01'],
    ['more than six bytes', '02 07 01 00 00 00 00 00 00'],
  ])('a number with %s', (_, bytes) => {
    expect(() => toNumber(first(hex(bytes)), INTEGER)).toThrow(InvalidDeviceError)
  })

  test.each(['01 00', '01 01 01', '01 02 ff ff', '02 01 ff'])('the BOOLEAN %s', bytes => {
    expect(() => toBoolean(first(hex(bytes)))).toThrow(InvalidDeviceError)
  })

  test('another tag, bytes that follow, a list of more than 256 elements', () => {
    expect(() => readElement(octets('x'), SEQUENCE)).toThrow('is missing')
    expect(() => readElement(Buffer.concat([sequence(), hex('00')]), SEQUENCE)).toThrow('follow')
    expect(readElements(Buffer.alloc(512))).toHaveLength(256)
    expect(() => readElements(Buffer.alloc(514))).toThrow('too many')
    expect(() => readElements(Buffer.alloc(1024 * 1024))).toThrow('too many')
  })
})

test('reads random bytes or rejects them, and nothing else', () => {
  const element = fc
    .tuple(fc.nat(255), fc.uint8Array({ maxLength: 40 }))
    .map(([tag, bytes]) => der(tag, Buffer.from(bytes)))
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 100 }).map(each => Buffer.from(each)),
    fc.array(element, { maxLength: 5 }).map(each => Buffer.concat(each)),
  )
  fc.assert(
    fc.property(bytes, given => {
      try {
        const read = readElements(given)
        expect(Buffer.concat(read.map(({ whole }) => whole)).equals(given)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidDeviceError)
      }
    }),
    { numRuns: 3000 },
  )
})
