import { describe, expect, test } from 'vitest'
import { hasPlainAuthority, parseUrl } from './bounded-url.ts'

/** `count` letters that all differ: the parser's time grows with the square of their number. */
function letters(count: number): string {
  return String.fromCharCode(...Array.from({ length: count }, (_, at) => 0x4e00 + at))
}

describe('parseUrl', () => {
  test.each([
    'https://example.com/a?b#c',
    'https://bücher.example/',
    `https://${letters(100)}.example/`,
    `https://${'a.'.repeat(400)}example/`,
    `https://example.com/${letters(8000)}?${letters(8000)}#${letters(8000)}`,
    'http://user:word@[::1]:8080/',
    'mailto:a@b.example',
  ])('reads %s as the platform does', text => {
    expect(parseUrl(text)?.href).toBe(new URL(text).href)
  })

  test.each(['/a', '//b.example/c', `/${letters(8000)}`, '?a', '', '\\\\b.example'])(
    'reads the reference %s as the platform does',
    text => {
      const base = new URL('https://example.com/x/y')
      expect(parseUrl(text, base)?.href).toBe(new URL(text, base).href)
    },
  )

  test.each(['', 'x', '/a', 'https://', 'https://a b/', 'https://[::g]/'])('%j is no URL', text =>
    expect(parseUrl(text)).toBeUndefined(),
  )

  test('reads a host with a letter such as ü however often it has read one', () => {
    let read = 0
    for (let count = 0; count < 20_000; count++) if (parseUrl('https://bücher.example/') !== undefined) read++
    expect(read).toBe(20_000)
  })

  const long = `${letters(200)}/`
  test.each([
    `https://${long}`,
    `HTTP:${long}`,
    `https:/${long}`,
    `https:////${long}`,
    `https:\\\\${long}`,
    `\0 https://${long}`,
    `h\ttt\nps:/\r/${long}`,
    `https://a.example@${long}`,
    `https://${letters(100)}\t\n${letters(100)}/`,
    `https://${'%E4%B8%80'.repeat(200)}/`,
    `https://${'a'.repeat(1025)}/`,
    `ws://${long}`,
  ])('refuses a long host before it is parsed: %s', text => {
    expect(parseUrl(text)).toBeUndefined()
  })

  test.each([`//${long}`, `\\\\${long}`, `/\\${long}`, ` /\n/${long}`, `https:${long}`])(
    'refuses a reference to a long host: %s',
    text => expect(parseUrl(text, new URL('https://example.com/'))).toBeUndefined(),
  )
})

test.each([
  ['https://example.com/ü?ü#ü', true],
  ['https://xn--bcher-kva.example/', true],
  ['https://bücher.example/', false],
  ['https://ｅxample.com/', false],
  ['http:ü', false],
])('has %s a plain authority: %s', (text, isPlain) => expect(hasPlainAuthority(text)).toBe(isPlain))
