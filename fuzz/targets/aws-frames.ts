import { crc32 } from 'node:zlib'
import { encodeAwsEvent, encodeAwsException, encodeAwsFrame } from '@rideau/llm/frames/aws-event-frame'
import { countAwsEvents, openAwsEventStreamParser } from '@rideau/llm/frames/aws-event-stream'
import { cut, edit, Input } from '../input.ts'
import { assert, assertEqual, assertLinear, attempt, repeat } from '../oracle.ts'

const MAX_EVENT_BYTES = 4096

const GENUINE = Buffer.concat([
  encodeAwsEvent('contentBlockDelta', { delta: { text: 'h\u00e9' } }),
  encodeAwsFrame({ ':message-type': 'error', ':error-code': 'x', ':error-message': 'y' }, ''),
  encodeAwsException('throttlingException', { message: 'slow' }),
])

export const seeds = ['\x00\x02', '\x01\x01\x01\x00\x10\x00\x20', '\x02\x05\x02aabb\x07\x00\x01c'].map(text =>
  Buffer.from(text, 'latin1'),
)

interface Read {
  readonly events: { event: string; data: string }[]
  readonly problem: string | undefined
}

function read(chunks: readonly Buffer[]): Read {
  const events: { event: string; data: string }[] = []
  const parser = openAwsEventStreamParser(({ event, data }) => events.push({ event, data }), {
    maxEventBytes: MAX_EVENT_BYTES,
  })
  const { error } = attempt(() => {
    for (const chunk of chunks) parser.push(chunk)
    parser.end()
  })
  if (error !== undefined) assert(error.name === 'EventStreamError', `no other error: ${error.stack}`)
  return { events, problem: error?.message }
}

/** A frame whose checksums are right, whatever its headers and lengths say. */
function toFrame(headersLength: number, body: Buffer): Buffer {
  const frame = Buffer.alloc(body.length + 16)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headersLength, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  body.copy(frame, 12)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

function toStream(input: Input, kind: number): Buffer {
  if (kind === 0) return edit(GENUINE, input)
  if (kind === 1) return input.rest()
  if (kind === 2) {
    const headers = input.byte()
    return toFrame(headers, input.rest())
  }
  const [nameLength, valueLength] = [input.byte() % 64, input.word() % 2048]
  const name = input.take(nameLength).toString('utf8')
  const value = input.take(valueLength).toString('utf8')
  return encodeAwsFrame(
    { ':message-type': 'event', ':event-type': value, [name]: 'x' },
    input.rest().toString('utf8'),
  )
}

export function fuzz(data: Buffer): void {
  const input = new Input(data)
  const kind = input.byte() % 4
  const choice = input.byte()
  const isRepeated = choice % 16 === 15
  const stream = toStream(input, kind)
  const bytes = isRepeated ? repeat(stream, 2000) : stream
  if (isRepeated) {
    assertLinear(bytes, 60, 4000, () => read([bytes]))
    return
  }
  const whole = read([bytes])
  const pieces = read(cut(bytes, choice))
  assertEqual(pieces.events, whole.events, 'the same events however the bytes are cut')
  assertEqual(
    pieces.problem === undefined,
    whole.problem === undefined,
    'the same verdict however the bytes are cut',
  )
  if (whole.problem === undefined) {
    assertEqual(countAwsEvents(bytes), whole.events.length, 'as many events as are counted by the lengths')
  }
  if (kind === 3 && bytes.length <= MAX_EVENT_BYTES) {
    assert(whole.problem === undefined && whole.events.length === 1, 'what is encoded can be decoded')
    assertEqual(
      whole.events[0]?.data,
      bytes.toString('utf8', 12 + bytes.readUInt32BE(4), bytes.length - 4),
      'the payload',
    )
  }
}
