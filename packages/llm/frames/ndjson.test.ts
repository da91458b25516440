import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineTooLongError, openNdjsonParser } from './ndjson.ts'

function read(chunks: readonly Buffer[], maxEventBytes?: number): string[] {
  const lines: string[] = []
  const parser = openNdjsonParser(
    ({ data }) => lines.push(data),
    maxEventBytes === undefined ? {} : { maxEventBytes },
  )
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  expect(parser.hasPartial()).toBe(false)
  return lines
}

test('lines by LF or CRLF, blank ones left out, the last one also without its end', () => {
  expect(read([Buffer.from('{"a":1}\r\n\n{"b":"é"}\n{"c":3}')])).toEqual(['{"a":1}', '{"b":"é"}', '{"c":3}'])
})

test('any chunking reads the same, characters split anywhere included', () => {
  const value = fc.array(fc.json(), { maxLength: 8 })
  fc.assert(
    fc.property(value, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (values, cuts) => {
      const bytes = Buffer.from(values.map(json => `${JSON.stringify({ json, text: 'é🙂' })}\n`).join(''))
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length; ) {
        const size = cuts.next().value as number
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      expect(read(chunks)).toEqual(values.map(json => JSON.stringify({ json, text: 'é🙂' })))
    }),
  )
})

test('a line over the cap is refused, ended or not', () => {
  expect(() => read([Buffer.from('x'.repeat(20)), Buffer.from('y')], 20)).toThrow(LineTooLongError)
  expect(() => read([Buffer.from(`${'x'.repeat(20)}\n`)], 20)).toThrow(LineTooLongError)
})
