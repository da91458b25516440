import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FormScan } from './form-scan.ts'

const TYPE = 'multipart/form-data; boundary=b'

function scan(body: string | Buffer, contentType = TYPE): FormScan {
  const form = new FormScan(Buffer.from(body), contentType)
  while (!form.step());
  return form
}

const part = (head: string, body = 'x'): string => `--b\r\n${head}\r\n\r\n${body}\r\n`
const named = (name: string, body?: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, body)

describe('FormScan', () => {
  test('parses any form that fetch writes', async () => {
    const name = fc.string({
      minLength: 1,
      unit: fc.constantFrom('a', '"', '\\', ' ', '%', ';', '=', 'é', '[', ']'),
    })
    const entry = fc.record({ name, bytes: fc.uint8Array({ maxLength: 80 }), isFile: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async entries => {
        const data = new FormData()
        for (const { name: given, bytes, isFile } of entries) {
          if (isFile) data.append(given, new Blob([new Uint8Array(bytes)]), 'a"b.png')
          else data.append(given, Buffer.from(bytes).toString('latin1'))
        }
        const written = new Response(data)
        const type = written.headers.get('content-type') as string
        const form = scan(Buffer.from(await written.arrayBuffer()), type)
        expect(form.problem).toBeUndefined()
        const read = form.parts.map(({ name: found, isFile, bytes }) => [
          found,
          isFile,
          bytes.toString('latin1'),
        ])
        const expected = await Promise.all(
          [...data].map(async ([found, value]) => {
            if (typeof value !== 'string')
              return [found, true, Buffer.from(await value.arrayBuffer()).toString('latin1')]
            // A form has CRLF for every line break.
            return [found, false, Buffer.from(value.replace(/\r\n|\r|\n/g, '\r\n')).toString('latin1')]
          }),
        )
        expect(read).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['a bare boundary', 'multipart/form-data; boundary=b'],
    ['a quoted one', 'multipart/form-data; boundary="b"'],
    ['other parameters before', 'multipart/form-data; charset=utf-8; x="boundary=zzz"; Boundary=b'],
  ])('finds the boundary: %s', (_, contentType) => {
    expect(scan(`${named('a')}--b--`, contentType).parts.map(({ name }) => name)).toEqual(['a'])
  })

  test('ignores text before the first delimiter and after the last', () => {
    const { parts, problem } = scan(`before\r\n${named('a', '1')}${named('c', '')}--b--\r\nafter`)
    expect(problem).toBeUndefined()
    expect(parts.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([
      ['a', '1'],
      ['c', ''],
    ])
  })

  test('finds a delimiter across two slices', () => {
    const MiB = 1024 * 1024
    for (let at = MiB - 70; at < MiB - 40; at++) {
      const { parts, problem } = scan(`${named('a', 'x'.repeat(at))}${named('c')}--b--`)
      expect(problem).toBeUndefined()
      expect(parts.map(({ bytes }) => bytes.length)).toEqual([at, 1])
    }
  })

  test.each([
    ['no_boundary', 'x', 'multipart/form-data'],
    ['no_boundary', 'x', `multipart/form-data; boundary=${'b'.repeat(71)}`],
    ['malformed', '', TYPE],
    ['malformed', 'not a form', TYPE],
    ['malformed', named('a'), TYPE],
    ['malformed', `--bx${named('a')}--b--`, TYPE],
    ['malformed', `${part('Content-Type: text/plain')}--b--`, TYPE],
    ['malformed', `${part('Content-Disposition: attachment; name="a"')}--b--`, TYPE],
    ['malformed', '--b\r\nContent-Disposition: form-data; name="a"\r\nx\r\n--b--', TYPE],
    ['malformed', '--b\r\n--b\r\n--b--', TYPE],
    // Parsers read another name in these, depending on which line they take.
    [
      'malformed',
      `${part('Content-Disposition: form-data; name="a"\nX: y\r\nContent-Disposition: form-data; name=b')}--b--`,
      TYPE,
    ],
    [
      'malformed',
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"')}--b--`,
      TYPE,
    ],
    ['malformed', `${part('Content-Disposition: form-data; name="a"\r\nno header')}--b--`, TYPE],
    [
      'encoded',
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', 'eA==')}--b--`,
      TYPE,
    ],
    ['too_many_parts', `${named('a').repeat(101)}--b--`, TYPE],
    ['long_header', `${named('a'.repeat(5_000))}--b--`, TYPE],
    [
      'long_header',
      `${part(`X: ${'x'.repeat(5_000)}\r\nContent-Disposition: form-data; name="a"`)}--b--`,
      TYPE,
    ],
  ])('%s: %j', (problem, body, contentType) => {
    expect(scan(body, contentType).problem).toBe(problem)
  })

  test('accepts a hundred parts', () => {
    expect(scan(`${named('a').repeat(100)}--b--`).parts).toHaveLength(100)
  })
})
