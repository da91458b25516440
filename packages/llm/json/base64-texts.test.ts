import { describe, expect, test } from 'vitest'
import { measureMs } from '../testing/measure-ms.ts'
import { Base64Texts } from './base64-texts.ts'

const MiB = 1_048_576
const decode = (bytes: Buffer, texts = new Base64Texts()): string => texts.decode(bytes.toString('base64'))

test.each(['', 'text', '\ufeffmark', '人', '🙂', 'é'.repeat(3_000), `${'x'.repeat(3_000)}人`])(
  'returns a text as it was: %#',
  text => {
    expect(decode(Buffer.from(text))).toBe(text)
  },
)

test('reads what is no UTF-8 as U+FFFD, and as Latin-1 once there is more than any text of a request', () => {
  const texts = new Base64Texts()
  const long = Buffer.alloc(3 * MiB, 0xe9)
  expect(decode(Buffer.from([0x61, 0xe9]), texts)).toBe('a\ufffd')
  expect(decode(long, texts) === '\ufffd'.repeat(3 * MiB)).toBe(true)
  expect(decode(long, texts) === 'é'.repeat(3 * MiB)).toBe(true)
  expect(decode(Buffer.from('人'), texts)).toBe('人')
})

// 23 MB in base64 are 31. V8's own decoder takes 60 to 110 ms for each of these.
describe('decodes at once', () => {
  test.each([
    ['ASCII', Buffer.alloc(23 * MiB, 'a')],
    ['other letters', Buffer.alloc(24 * 1_000_000, '人的中文')],
    ['bytes above ASCII', Buffer.alloc(23 * MiB, 0xe9)],
    ['any bytes', Buffer.alloc(23 * MiB, Buffer.from(Array.from({ length: 256 }, (_, at) => at)))],
  ])('%s', (_, bytes) => {
    const base64 = bytes.toString('base64')
    expect(measureMs(() => new Base64Texts().decode(base64))).toBeLessThan(60)
  })

  test('many short texts', () => {
    const base64 = Buffer.alloc(3_500, 0xe9).toString('base64')
    const texts = new Base64Texts()
    const usedMs = measureMs(() => {
      for (let at = 0; at < 6_500; at++) texts.decode(base64)
    })
    expect(usedMs).toBeLessThan(90)
  })
})
