import { expect, test } from 'vitest'
import { encodeForm, type FormPart, toSentForm } from './multipart.ts'

const KiB = 1024

const file = (bytes: Buffer): FormPart => ({
  name: 'image',
  bytes,
  fileName: 'a.png',
  mediaType: 'image/png',
})
const TEXT: FormPart = { name: 'prompt', value: 'a fox, 漢' }

test('a long form is written in pieces that are the form as it is encoded at once', () => {
  const parts = [
    TEXT,
    file(Buffer.alloc(1_500_000, 'abc')),
    file(Buffer.alloc(0)),
    file(Buffer.alloc(700_001)),
  ]
  const { body, contentType } = toSentForm([...parts, { name: 'user', value: '漢'.repeat(300_000) }])
  const whole = encodeForm([...parts, { name: 'user', value: '漢'.repeat(300_000) }])
  if (!('pieces' in body)) throw new Error('the form is written at once')
  const pieces = [...body.pieces()]
  expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThanOrEqual(256 * KiB)
  expect(Buffer.concat(pieces).equals(whole.body)).toBe(true)
  expect(contentType()).toBe(whole.contentType)
})

test('a long form takes turns for its boundary too, which is a digest of all of it', () => {
  const write = (last: number) => {
    const bytes = Buffer.alloc(2_000_000)
    bytes[bytes.length - 1] = last
    const { body, contentType } = toSentForm([file(bytes)])
    const pieces = 'pieces' in body ? [...body.pieces()] : []
    return { type: contentType(), empty: pieces.filter(piece => piece.length === 0).length }
  }
  expect(write(1).type).not.toBe(write(2).type)
  expect(write(1).empty).toBeGreaterThanOrEqual(Math.ceil(2_000_000 / (256 * KiB)))
})

test('the type of a long form that is not written yet is unknown', () => {
  const { contentType } = toSentForm([file(Buffer.alloc(2_000_000))])
  expect(() => contentType()).toThrow(/not written/)
})

test('a short form is written at once', () => {
  const parts = [TEXT, file(Buffer.alloc(200 * KiB))]
  const { body, contentType } = toSentForm(parts)
  const whole = encodeForm(parts)
  expect(body).toEqual(whole.body)
  expect(contentType()).toBe(whole.contentType)
})
