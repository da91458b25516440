import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type SseEvent, SseParser } from './sse-parser.ts'

/** Feeds bytes in pieces that end at the given places, also inside a character. */
function parseBytes(bytes: Uint8Array, cuts: readonly number[]): SseEvent[] {
  const parser = new SseParser()
  const decoder = new TextDecoder()
  const ends = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  const events: SseEvent[] = []
  let from = 0
  for (const end of [...ends, bytes.length]) {
    events.push(...parser.push(decoder.decode(bytes.subarray(from, end), { stream: true })))
    from = end
  }
  return [...events, ...parser.push(decoder.decode())]
}

/** A second implementation, of the standard's algorithm on the whole text. */
function parseWhole(text: string): SseEvent[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  lines.pop()
  const events: SseEvent[] = []
  let event = ''
  let data: string[] = []
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) events.push({ event: event === '' ? 'message' : event, data: data.join('\n') })
      event = ''
      data = []
      continue
    }
    const [, field = line, value = ''] = /^([^:]*):? ?([^]*)$/.exec(line) ?? []
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }
  return events
}

const ending = fc.constantFrom('\n', '\r\n', '\r')
const content = fc.string({ unit: fc.constantFrom('a', ' ', ':', 'é', '漢', '😀', '{', '\uFEFF') })
const line = fc.oneof(
  content.map(text => `data: ${text}`),
  content.map(text => `data:${text}`),
  content.map(text => `event: ${text}`),
  content.map(text => `: ${text}`),
  content.map(text => `id: ${text}`),
  content,
  fc.constantFrom('', '', '', 'data', 'event', 'retry: 10'),
)
const cuts = fc.array(fc.nat(), { maxLength: 40 })
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

test('any stream gives the same events however its bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(line, ending), { maxLength: 30 }), cuts, (lines, places) => {
      const text = lines.map(([each, end]) => each + end).join('')
      expect(parseBytes(encode(text), places)).toEqual(parseWhole(text))
    }),
    { numRuns: 2_000 },
  )
})

test('any bytes are parsed without an exception, and a piece for each byte gives the same', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      const each = Array.from(bytes, (_, index) => index)
      expect(parseBytes(bytes, each)).toEqual(parseBytes(bytes, []))
    }),
  )
})

test.each<[string, string, SseEvent[]]>([
  ['joins the lines of data', 'data: a\ndata: b\n\n', [{ event: 'message', data: 'a\nb' }]],
  ['takes one space after the colon away', 'data:  a\n\n', [{ event: 'message', data: ' a' }]],
  ['reads the type of an event', 'event: error\ndata: {}\n\n', [{ event: 'error', data: '{}' }]],
  ['ends lines at CRLF', 'data: a\r\n\r\n', [{ event: 'message', data: 'a' }]],
  ['ends lines at CR', 'data: a\r\r', [{ event: 'message', data: 'a' }]],
  ['ignores comments', ': keep-alive\n\n: x\ndata: a\n\n', [{ event: 'message', data: 'a' }]],
  ['ignores a byte order mark', '\uFEFFdata: a\n\n', [{ event: 'message', data: 'a' }]],
  ['drops an event without an empty line', 'data: a\n', []],
  ['drops a type without data', 'event: error\n\ndata: a\n\n', [{ event: 'message', data: 'a' }]],
  ['reads a field without a colon as empty', 'data\n\n', [{ event: 'message', data: '' }]],
])('%s', (_, text, events) => {
  expect(new SseParser().push(text)).toEqual(events)
})

test('an event that never ends is refused instead of kept', () => {
  const parser = new SseParser()
  const piece = `data: ${'a'.repeat(1 << 20)}\n`
  expect(() => {
    for (let count = 0; count < 70; count++) parser.push(piece)
  }).toThrow(RangeError)
})
