import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { SentBody } from '../../../json/unwritten-json.ts'
import { converseCount } from './count-tokens.ts'

/** Opens the body of a token count that embeds a text in base64. */
function open(body: string): SentBody {
  const value: JsonObject = { input: { invokeModel: { body } } }
  const embedded = converseCount.open?.(value, 'm')
  if (embedded === undefined || !('bytes' in embedded)) throw new Error('the body is not opened as bytes')
  return embedded.bytes
}

function read(body: string): Buffer {
  const bytes = open(body)
  return 'pieces' in bytes ? Buffer.concat([...bytes.pieces()]) : bytes
}

test('a text of 27 MB is decoded in pieces of a millisecond at most', () => {
  const bytes = Buffer.alloc(20_000_001, 'The fox. ')
  const opened = open(bytes.toString('base64'))
  const pieces = 'pieces' in opened ? [...opened.pieces()] : []
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
  expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThanOrEqual(256 * 1024)
})

test('a text decodes to the same wherever its pieces and its padding end', () => {
  const piece = 256 * 1024
  for (let length = piece - 3; length < piece + 4; length++) {
    for (const chars of [length, length + piece]) {
      for (const padding of ['', '=', '==']) {
        const text = 'QUJD'.repeat(chars / 4).padEnd(chars, 'Q') + padding
        expect(read(text).equals(Buffer.from(text, 'base64'))).toBe(true)
      }
    }
  }
})

test.each([
  ['a sign at the beginning', 0, '{'],
  ['a sign in the middle', 600_000, '-'],
  ['a sign at the end', 999_999, '\n'],
  ['padding in the middle', 262_144, '='],
])('a text that is no base64 is refused: %s', (_, at, sign) => {
  for (const length of [1_000_000, 1_000]) {
    const start = Math.min(at, length - 1)
    const text = 'A'.repeat(start) + sign + 'A'.repeat(length - start - 1)
    const isPadding = sign === '=' && start === length - 1
    if (!isPadding) expect(() => read(text)).toThrow(/input\.invokeModel\.body: must be base64/)
  }
  expect(() => read('QUJD===')).toThrow(/must be base64/)
})
