import { crc32 } from 'node:zlib'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countAwsEvents,
  EventStreamError,
  measureAwsEvents,
  openAwsEventStreamParser,
} from './aws-event-stream.ts'
import { openFrames } from './open-frames.ts'

/** AWS's own codec writes what this parser reads. */
const codec = new EventStreamCodec(
  bytes => Buffer.from(bytes).toString('utf8'),
  text => new Uint8Array(Buffer.from(text)),
)

type Headers = Parameters<typeof codec.encode>[0]['headers']

function frame(headers: Record<string, string>, payload: string, extra: Headers = {}): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }] as const)
  const body = new Uint8Array(Buffer.from(payload))
  return Buffer.from(codec.encode({ headers: { ...extra, ...Object.fromEntries(typed) }, body }))
}

const event = (type: string, payload: string): Buffer =>
  frame({ ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' }, payload)

function read(chunks: readonly Buffer[], maxEventBytes?: number): { event: string; data: string }[] {
  const events: { event: string; data: string }[] = []
  const parser = openAwsEventStreamParser(
    ({ event, data }) => events.push({ event, data }),
    maxEventBytes === undefined ? {} : { maxEventBytes },
  )
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return events
}

describe('openAwsEventStreamParser', () => {
  test('events by their type, exceptions and errors by theirs', () => {
    const stream = Buffer.concat([
      event('messageStart', '{"role":"assistant"}'),
      frame(
        { ':message-type': 'exception', ':exception-type': 'throttlingException' },
        '{"message":"slow down"}',
      ),
      frame({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'oh "no"' }, ''),
    ])
    expect(read([stream])).toEqual([
      { event: 'messageStart', data: '{"role":"assistant"}' },
      { event: 'exception:throttlingException', data: '{"message":"slow down"}' },
      { event: 'exception:InternalError', data: '{"message":"oh \\"no\\""}' },
    ])
  })

  test('a frame has at most 128 KiB of headers', () => {
    const filled = (count: number): Headers =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`h${at}`, { type: 'binary', value: Buffer.alloc(30_000) }]),
      )
    expect(read([frame({ ':event-type': 'a' }, '{}', filled(4))])).toEqual([{ event: 'a', data: '{}' }])
    expect(() => read([frame({ ':event-type': 'a' }, '{}', filled(5))])).toThrow(
      'headers of more than 131072 bytes',
    )
  })

  test('headers of every type are passed over', () => {
    const extra: Headers = {
      yes: { type: 'boolean', value: true },
      no: { type: 'boolean', value: false },
      byte: { type: 'byte', value: 1 },
      short: { type: 'short', value: 2 },
      integer: { type: 'integer', value: 3 },
      bytes: { type: 'binary', value: new Uint8Array([1, 2, 3]) },
      at: { type: 'timestamp', value: new Date(0) },
      uuid: { type: 'uuid', value: '12345678-1234-1234-1234-123456789abc' },
    }
    expect(read([frame({ ':message-type': 'event', ':event-type': 'x' }, 'é', extra)])).toEqual([
      { event: 'x', data: 'é' },
    ])
  })

  test('a header that reaches to the last byte of its frame is an EventStreamError', () => {
    // The smallest input that the fuzzer found: both checksums are right, and a header's name ends in the second one.
    const body = Buffer.from('0000079a00fe0001', 'hex')
    const bytes = Buffer.alloc(body.length + 16)
    bytes.writeUInt32BE(bytes.length, 0)
    bytes.writeUInt32BE(5, 4)
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
    body.copy(bytes, 12)
    bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4)
    expect(() => read([bytes])).toThrow(EventStreamError)
  })

  test('any chunking reads the same', () => {
    const payload = fc.string({ unit: 'grapheme', maxLength: 50 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ maxLength: 20 }), payload)),
        fc.infiniteStream(fc.nat(40)),
        (list, cuts) => {
          const bytes = Buffer.concat(list.map(([type, data]) => event(type, data)))
          const chunks: Buffer[] = []
          for (let at = 0; at < bytes.length; ) {
            const size = cuts.next().value as number
            chunks.push(bytes.subarray(at, at + size))
            at += size
          }
          expect(read(chunks)).toEqual(read([bytes]))
          expect(read([bytes])).toEqual(list.map(([type, data]) => ({ event: type, data })))
        },
      ),
    )
  })

  test('whole events are counted by their lengths; a part of one, or anything else, is none', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 30 }), { minLength: 1 }), fc.nat(), (texts, cut) => {
        const frames = texts.map(text => event('contentBlockDelta', text))
        const bytes = Buffer.concat(frames)
        expect(countAwsEvents(bytes)).toBe(texts.length)
        const ends = frames.map((_, at) => Buffer.concat(frames.slice(0, at + 1)).length)
        const length = cut % bytes.length
        expect(countAwsEvents(bytes.subarray(0, length))).toBe(ends.indexOf(length) + 1)
        const whole = Math.max(0, ...ends.filter(end => end <= length))
        expect(measureAwsEvents(bytes, length)).toBe(whole)
        expect(measureAwsEvents(bytes.subarray(0, length), length)).toBe(whole)
      }),
    )
    expect(countAwsEvents(Buffer.from('data: {"text":"no event of this kind"}\n\n'))).toBe(0)
    expect(countAwsEvents(Buffer.alloc(64))).toBe(0)
    expect(measureAwsEvents(Buffer.alloc(64), 64)).toBe(0)
  })

  test('a change of any one bit is noticed', () => {
    const whole = event('messageStop', '{"stopReason":"end_turn"}')
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(7), (at, bit) => {
        const broken = Buffer.from(whole)
        broken[at] = (broken[at] as number) ^ (1 << bit)
        expect(() => read([broken])).toThrow(EventStreamError)
      }),
    )
  })

  test('a frame over the cap is refused by its length, before its bytes are there', () => {
    const large = event('x', 'y'.repeat(200))
    expect(() => read([large.subarray(0, 12)], 100)).toThrow(/larger than 100/)
    expect(read([large], 1000)).toHaveLength(1)
  })

  test('what is begun is known, and a stream that ends there is torn', () => {
    const parser = openFrames('aws-event-stream', () => {})
    const whole = event('x', '{}')
    parser.push(whole)
    expect(parser.hasPartial()).toBe(false)
    parser.push(whole.subarray(0, 5))
    expect(parser.hasPartial()).toBe(true)
    expect(() => parser.end()).toThrow(EventStreamError)
  })
})
