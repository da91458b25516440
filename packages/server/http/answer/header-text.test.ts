import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isHeaderText, toExactHeaderText, toHeaderList, toHeaderText } from './header-text.ts'

/** Any UTF-16 text, including lone surrogates and control characters. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3000 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 3000 })
    .map(units => String.fromCharCode(...units)),
)

describe('toHeaderText', () => {
  test.each([
    ['openai/gpt-4.1', 'openai/gpt-4.1'],
    ['a name, of 100%', 'a name, of 100%'],
    ['custom/größe', 'custom/gr%C3%B6%C3%9Fe'],
    ['100% 🦊', '100%25%20%F0%9F%A6%8A'],
    ['custom-x/\ud800', 'custom-x/%EF%BF%BD'],
    ['\udc00\ud83e', '%EF%BF%BD%EF%BF%BD'],
    ['a\r\nSet-Cookie: b', 'a%0D%0ASet-Cookie:%20b'],
    ['', ''],
  ])('%j is %s', (text, value) => {
    expect(toHeaderText(text)).toBe(value)
  })

  test('cuts a value over 1 KiB between two characters and appends "..."', () => {
    expect(toHeaderText('a'.repeat(1024))).toBe('a'.repeat(1024))
    expect(toHeaderText('a'.repeat(1025))).toBe(`${'a'.repeat(1021)}...`)
    // 170 whole characters of six bytes each.
    expect(toHeaderText('ß'.repeat(40_000_000))).toBe(`${'%C3%9F'.repeat(170)}...`)
  })

  test('turns any text into a value of at most 1 KiB that Node accepts', () => {
    fc.assert(
      fc.property(anyText, text => {
        expect(isHeaderText(toHeaderText(text))).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('returns text that decodes to the input if the input is well-formed, not ASCII and short', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 50 }), text => {
        if (!isHeaderText(text)) expect(decodeURI(toHeaderText(text))).toBe(text)
      }),
    )
  })
})

test('toExactHeaderText encodes and never cuts', () => {
  expect(toExactHeaderText('a'.repeat(5000))).toBe('a'.repeat(5000))
  expect(toExactHeaderText(`${'ß'.repeat(1000)}\ud800`)).toBe(`${'%C3%9F'.repeat(1000)}%EF%BF%BD`)
})

describe('toHeaderList', () => {
  test.each([
    [['a'], 'a'],
    [['a', 'tools[0]', 'größe'], 'a, tools[0], gr%C3%B6%C3%9Fe'],
    [['a,b', 'c'], 'a%2Cb, c'],
    [[], ''],
    [['a', '\ud800'.repeat(1000), 'b'], 'a, ...'],
    [['x'.repeat(31 * 1024 * 1024)], '...'],
  ])('%#', (names, list) => {
    expect(toHeaderList(names)).toBe(list)
  })

  test('cuts a list of any names between two names and appends "..."', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 300 }), names => {
        const list = toHeaderList(names)
        expect(isHeaderText(list)).toBe(true)
        const items = names.length === 0 ? [] : list.split(', ')
        const whole = items.at(-1) === '...' && items.length <= names.length ? items.slice(0, -1) : items
        expect(whole).toEqual(
          names.slice(0, whole.length).map(name => toHeaderText(name).replaceAll(',', '%2C')),
        )
      }),
    )
  })
})
