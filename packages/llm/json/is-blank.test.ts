import { expect, test } from 'vitest'
import { measureMs } from '../testing/measure-ms.ts'
import { isBlank } from './is-blank.ts'

test.each(['', ' ', '\t\r\n\v\f', '\u00a0\u1680\u2003\u2028\u2029\u3000\ufeff', 'a', ' a ', '\0', '\u200b'])(
  '%j is blank where trim leaves nothing of it',
  text => {
    expect(isBlank(text)).toBe(text.trim() === '')
  },
)

test('a text with millions of blanks is read once', () => {
  const blanks = Buffer.alloc(31 * 1_048_576, ' ').toString('latin1')
  const begun = Buffer.alloc(31 * 1_048_576, ' ')
    .fill('a', 0, 1)
    .toString('latin1')
  expect(measureMs(() => expect(isBlank(blanks)).toBe(true))).toBeLessThan(50)
  expect(measureMs(() => expect(isBlank(begun)).toBe(false))).toBeLessThan(15)
})
