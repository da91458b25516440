import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../testing/collect-garbage.ts'
import { openSseParser, SseEventTooLargeError } from './sse.ts'

interface ParsedEvent {
  event: string
  data: string
  raw: string
}

function parse(chunks: readonly (string | Buffer)[]): ParsedEvent[] {
  const seen: ParsedEvent[] = []
  const parser = openSseParser(({ event, data, raw }) =>
    seen.push({ event, data, raw: raw.toString('latin1') }),
  )
  for (const chunk of chunks) parser.push(Buffer.from(chunk))
  parser.end()
  return seen
}

const data = (chunks: readonly (string | Buffer)[]) => parse(chunks).map(event => event.data)

describe('openSseParser', () => {
  test.each<[string, string, { event: string; data: string }[]]>([
    [
      'LF',
      'data: a\n\ndata: b\n\n',
      [
        { event: '', data: 'a' },
        { event: '', data: 'b' },
      ],
    ],
    ['CRLF', 'event: x\r\ndata: a\r\n\r\n', [{ event: 'x', data: 'a' }]],
    [
      'CR',
      'event: x\rdata: a\r\rdata: b\r\r',
      [
        { event: 'x', data: 'a' },
        { event: '', data: 'b' },
      ],
    ],
    [
      'mixed ends',
      'data: a\r\n\ndata: b\n\r\n',
      [
        { event: '', data: 'a' },
        { event: '', data: 'b' },
      ],
    ],
    ['several data lines', 'data: a\ndata\ndata:  b\n\n', [{ event: '', data: 'a\n\n b' }]],
    ['no space', 'data:{"a":1}\n\n', [{ event: '', data: '{"a":1}' }]],
    ['a space alone', 'data: \n\n', [{ event: '', data: '' }]],
    [
      'comments, ids, unknown fields',
      ': ping\n\nid: 1\nretry: 5\ndatabase: x\ndata: a\n: b\n\n',
      [{ event: '', data: 'a' }],
    ],
    ['a name without data', 'event: ping\n\ndata: a\n\n', [{ event: '', data: 'a' }]],
    ['a byte order mark', '\ufeffdata: a\n\n', [{ event: '', data: 'a' }]],
    [
      'no blank line at the end',
      'data: a\n\ndata: b',
      [
        { event: '', data: 'a' },
        { event: '', data: 'b' },
      ],
    ],
    ['no line end after a field', 'event: x\ndata: b\n', [{ event: 'x', data: 'b' }]],
    ['nothing', '', []],
    ['blank lines only', '\n\r\n\n', []],
  ])('%s', (_, text, expected) => {
    expect(parse([text]).map(({ event, data }) => ({ event, data }))).toEqual(expected)
  })

  test('any chunking: the same events, and together the same bytes', () => {
    const piece = fc.constantFrom(
      'data: ',
      'data',
      'event: x',
      ':',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'é',
      '漢',
      '🦜',
      ' ',
      'a',
      '{"b":"c"}',
      '\ufeff',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.nat(200), { maxLength: 20 }),
        (pieces, cuts) => {
          const bytes = Buffer.from(pieces.join(''))
          const at = [...new Set([0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length])].sort(
            (a, b) => a - b,
          )
          const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end))
          const strip = (seen: ParsedEvent[]) => seen.map(({ event, data }) => ({ event, data }))
          expect(strip(parse(chunks))).toEqual(strip(parse([bytes])))
          // Byte by byte, where every CRLF is split.
          expect(strip(parse([...bytes].map(byte => Buffer.from([byte]))))).toEqual(strip(parse([bytes])))
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('the bytes of the events are the stream, whatever the chunks', () => {
    const text = 'data: {"a":"é"}\n\nevent: x\r\ndata: 漢\r\n\r\ndata: [DONE]\n\n'
    const bytes = Buffer.from(text)
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = []
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
      expect(
        parse(chunks)
          .map(event => event.raw)
          .join('')
          .replaceAll(/\r\n?/g, '\n'),
      ).toBe(bytes.toString('latin1').replaceAll(/\r\n?/g, '\n'))
    }
    expect(
      parse([text])
        .map(event => event.raw)
        .join(''),
    ).toBe(bytes.toString('latin1'))
  })

  test('an event of several chunks keeps its bytes when the chunks are reused', () => {
    const reused = Buffer.from('data: ab')
    const seen: string[] = []
    const parser = openSseParser(({ raw }) => seen.push(raw.toString()))
    parser.push(Buffer.from(reused))
    parser.push(Buffer.from('c\n\n'))
    expect(seen).toEqual(['data: abc\n\n'])
  })

  test('an event over the cap: a typed error, in one chunk or in many, with or without line ends', () => {
    const open = () => openSseParser(() => {}, { maxEventBytes: 100 })
    expect(() => open().push(Buffer.from(`data: ${'a'.repeat(100)}\n\n`))).toThrow(SseEventTooLargeError)
    const many = open()
    expect(() => {
      for (let at = 0; at < 200; at++) many.push(Buffer.from('a'))
    }).toThrow(SseEventTooLargeError)
    const lines = open()
    expect(() => {
      for (let at = 0; at < 200; at++) lines.push(Buffer.from('data: a\n'))
    }).toThrow(SseEventTooLargeError)
  })

  test('events up to the cap pass, however many', () => {
    const seen: string[] = []
    const parser = openSseParser(event => seen.push(event.data), { maxEventBytes: 10 })
    for (let at = 0; at < 50; at++) parser.push(Buffer.from('data: ab\n\n'))
    expect(seen).toHaveLength(50)
  })

  test('a megabyte in a thousand chunks is one event', () => {
    const text = 'x'.repeat(1_000_000)
    const bytes = Buffer.from(`data: ${text}\n\n`)
    const chunks = []
    for (let at = 0; at < bytes.length; at += 1000) chunks.push(bytes.subarray(at, at + 1000))
    expect(data(chunks)).toEqual([text])
  })

  test.each(['data: a', 'data: a\n\n\r', 'data: a\r', '\r', ': c\n', ''])(
    'has no begun event after the end of the stream: %j',
    text => {
      const parser = openSseParser(() => {})
      parser.push(Buffer.from(text))
      parser.end()
      expect(parser.hasPartial()).toBe(false)
    },
  )

  test('a begun event is told, so that no chunk passes by it', () => {
    const parser = openSseParser(() => {})
    expect(parser.hasPartial()).toBe(false)
    for (const [chunk, partial] of [
      ['data: a', true],
      ['\n', true],
      ['\n', false],
      ['data: b\r\n\r', true],
      ['\n', false],
    ] as const) {
      parser.push(Buffer.from(chunk))
      expect(parser.hasPartial()).toBe(partial)
    }
  })
})

test('keeps an event of very many short lines in a few times its bytes', () => {
  const keep = (): number => {
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    const parsers = Array.from({ length: 8 }, () => openSseParser(() => {}))
    const lines = Buffer.from('data:x\n'.repeat(1_000))
    for (const parser of parsers) for (let count = 0; count < 140; count++) parser.push(lines)
    collectGarbage()
    const kept = process.memoryUsage().heapUsed - before
    expect(parsers.every(parser => parser.hasPartial())).toBe(true)
    return kept
  }
  keep()
  expect(keep()).toBeLessThan(8 * 2 * 1024 * 1024)
})
