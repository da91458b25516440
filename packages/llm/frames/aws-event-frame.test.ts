import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeAwsEvent, encodeAwsException, encodeAwsFrame } from './aws-event-frame.ts'
import { openAwsEventStreamParser } from './aws-event-stream.ts'

function parse(chunks: readonly Buffer[]): { event: string | undefined; data: string }[] {
  const events: { event: string | undefined; data: string }[] = []
  const parser = openAwsEventStreamParser(({ event, data }) => events.push({ event, data }))
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return events
}

describe('a frame of AWS’s event stream', () => {
  test('byte for byte as AWS’s own test vectors have it', () => {
    // `payload_no_headers` and `payload_one_str_header` of the format's published test suite.
    expect(encodeAwsFrame({}, "{'foo':'bar'}").toString('hex')).toBe(
      '0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936',
    )
    expect(encodeAwsFrame({ 'content-type': 'application/json' }, "{'foo':'bar'}").toString('hex')).toBe(
      '0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1',
    )
  })

  test('an exception is told as one', () => {
    expect(parse([encodeAwsException('throttlingException', { message: 'slow' })])).toEqual([
      { event: 'exception:throttlingException', data: '{"message":"slow"}' },
    ])
  })

  test('any events in any cut are read as they were written', () => {
    const event = fc.record({
      type: fc.stringMatching(/^[a-zA-Z]{1,20}$/),
      text: fc.string({ unit: 'binary' }),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.array(fc.nat(40)), (events, cuts) => {
        let rest = Buffer.concat(events.map(({ type, text }) => encodeAwsEvent(type, { text })))
        const chunks: Buffer[] = []
        for (const cut of cuts) {
          chunks.push(rest.subarray(0, cut))
          rest = rest.subarray(cut)
        }
        const expected = events.map(({ type, text }) => ({ event: type, data: JSON.stringify({ text }) }))
        expect(parse([...chunks, rest])).toEqual(expected)
      }),
    )
  })
})
