import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseKeyId } from '../key-id.ts'
import { decodeBase64 } from './base64.ts'

test('decodes base64 and base64url, with and without padding, up to the limit', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), given => {
      const bytes = Buffer.from(given)
      const [padded, url] = [bytes.toString('base64'), bytes.toString('base64url')]
      const padding = padded.slice(url.length)
      for (const text of [padded, url, padded.slice(0, url.length), `${url}${padding}`]) {
        expect(decodeBase64(text, bytes.length)).toEqual(bytes)
        if (bytes.length > 0) expect(decodeBase64(text, bytes.length - 1)).toBeUndefined()
      }
    }),
  )
})

test.each([
  ['whitespace', 'AAAA AAA'],
  ['a line break at its end', 'AAAA\n'],
  ['another character', 'AA*A'],
  ['both alphabets', '+_AA'],
  ['padding that is too short', 'AA='],
  ['padding that is too long', 'AAA=='],
  ['padding alone', '===='],
  ['padding in its middle', 'AA==AAAA'],
  ['one character too many', 'AAAAA'],
  ['bits that no byte has', 'AB'],
])('is undefined for a text with %s', (_, text) => {
  expect(decodeBase64(text, 100)).toBeUndefined()
})

test('a key id has exactly 32 bytes', () => {
  const id = Buffer.alloc(32, 0xfb)
  expect(parseKeyId(id.toString('base64'))).toEqual(id)
  expect(parseKeyId(id.toString('base64url'))).toEqual(id)
  expect(parseKeyId(id.subarray(1).toString('base64'))).toBeUndefined()
  expect(parseKeyId(Buffer.alloc(33).toString('base64'))).toBeUndefined()
  expect(parseKeyId('')).toBeUndefined()
})
