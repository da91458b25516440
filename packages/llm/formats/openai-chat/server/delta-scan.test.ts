import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DeltaScan } from './delta-scan.ts'

const event = (fields: object): string => `data: ${JSON.stringify({ id: 'c', ...fields })}\n\n`
const delta = (content: string, rest: object = {}): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }], ...rest })
const read = (text: string, scan = new DeltaScan()): { length: number; events: number } => {
  scan.scan(Buffer.from(text))
  const { length, events } = scan
  return { length, events }
}

describe('finds events', () => {
  test.each([
    ['of plain deltas', delta('word')],
    ['with usage of null', delta('word', { usage: null })],
    [
      'whose text contains the words that matter',
      delta('"usage": {} "finish_reason":"stop" "error" tool_calls'),
    ],
    ['with pieces of calls', event({ choices: [{ delta: { tool_calls: [{ index: 0 }] } }] })],
    ['that are comments', ': waiting\n\n'],
  ])('%s', (_, text) => {
    expect(read(text)).toEqual({ length: Buffer.byteLength(text), events: 1 })
    expect(read(text.repeat(3))).toEqual({ length: 3 * Buffer.byteLength(text), events: 3 })
  })

  test.each([
    ['a finish reason', event({ choices: [{ delta: {}, finish_reason: 'stop' }] })],
    ['a finish reason after spaces', 'data: {"choices":[{"finish_reason" : "stop"}]}\n\n'],
    ['usage', event({ usage: { prompt_tokens: 1 } })],
    ['an error', event({ error: { message: 'no' } })],
    ['the end', 'data: [DONE]\n\n'],
    ['reasoning that has to come back', event({ choices: [{ delta: { reasoning_details: [] } }] })],
    ['carriage returns', 'data: {}\r\n\r\n'],
    ['usage, and others after it', event({ usage: { prompt_tokens: 1 } }) + delta('more')],
    ['no end yet', 'data: {"id":'],
  ])('only before one with %s', (_, last) => {
    const first = delta('é')
    expect(read(last)).toEqual({ length: 0, events: 0 })
    expect(read(first + last)).toEqual({ length: Buffer.byteLength(first), events: 1 })
  })
})

test('after reasoning that has to come back, pieces of calls are to be decoded', () => {
  const scan = new DeltaScan()
  const calls = event({ choices: [{ delta: { tool_calls: [{ index: 0 }] } }] })
  expect(read(calls, scan).events).toBe(1)
  read(event({ choices: [{ delta: { reasoning_details: [{}] } }] }), scan)
  expect(read(calls, scan).events).toBe(0)
  expect(read(delta('word'), scan).events).toBe(1)
})

/** Returns whether an event may pass, by plain and slow searches. */
function mayPass(text: string): boolean {
  const isNull = (key: string): boolean =>
    [...text.matchAll(new RegExp(`"${key}"`, 'g'))].every(({ index }) =>
      /^ *: *null/.test(text.slice(index + key.length + 2)),
    )
  return (
    !['"error"', '"reasoning_details"', '[DONE]'].some(mark => text.includes(mark)) &&
    isNull('usage') &&
    isNull('finish_reason')
  )
}

const PIECES = [
  '"usage"',
  '"finish_reason"',
  '"error"',
  '"reasoning_details"',
  '[DONE]',
  '[',
  'null',
  ' : ',
  ':',
  ',',
  '"',
  '\\"',
  '\n',
  '{',
  '}',
  'é',
  'e',
  'u',
]

test('agrees with plain searches on any bytes, and leaves out what stands between commas', () => {
  const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map(pieces => pieces.join(''))
  fc.assert(
    fc.property(texts, text => {
      expectLikeSearches(new DeltaScan(), text)
    }),
    { numRuns: 20_000 },
  )
})

test('agrees with plain searches on events that differ in a few bytes only', () => {
  const texts = fc.array(fc.constantFrom(...PIECES, ' word', '\\n', '\\\\'), { maxLength: 4 })
  const envelopes = fc.constantFrom(
    ['{"id":"a","choices":[{"delta":{"content":"', '"},"finish_reason":null}],"usage":null}'],
    ['{"usage":null,"choices":[{"delta":{"content": "', '"}}],"padding":"', '"}'],
    ['{"usage', '":null,"error', '":1}'],
    ['{"a":["', '","', '"],"usage" : null , "b":"', '","finish_reason":', '}'],
    ['', '"', '":"'],
  )
  const streams = fc.tuple(envelopes, fc.array(fc.array(texts, { minLength: 5 }), { maxLength: 6 }))
  fc.assert(
    fc.property(streams, ([envelope, chunks]) => {
      const scan = new DeltaScan()
      for (const chunk of chunks) {
        const events = chunk.map((_, k) =>
          envelope.map((piece, i) => (i === 0 ? piece : (chunk[k + i - 1] ?? []).join('') + piece)).join(''),
        )
        expectLikeSearches(scan, events.map(each => `data: ${each}\n\n`).join(''))
        // Reasoning that has to come back changes what later events mean.
        if (scan.hasDetails) return
      }
    }),
    { numRuns: 20_000 },
  )
})

function expectLikeSearches(scan: DeltaScan, text: string): void {
  const chunk = Buffer.from(text)
  scan.scan(chunk)
  const events = text.split('\n\n').slice(0, -1)
  const plain = events.findIndex(each => !mayPass(each))
  const expected = plain === -1 ? events : events.slice(0, plain)
  expect(scan.events).toBe(expected.length)
  expect(scan.length).toBe(Buffer.byteLength(expected.map(each => `${each}\n\n`).join('')))
  const cut = scan.nulls.flatMap((at, i) =>
    i % 2 === 0 ? [chunk.toString('utf8', at, scan.nulls[i + 1])] : [],
  )
  for (const each of cut) expect(each).toMatch(/^, *"usage" *: *null$|^"usage" *: *null *,$/)
  const found = expected.join('\n\n').match(/"usage" *: *null/g) ?? []
  expect(cut.length).toBeLessThanOrEqual(found.length)
}
