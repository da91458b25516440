import type { Framing } from '@rideau/llm/frames/framing'
import type { StreamDecoder, StreamEvent } from '@rideau/llm/stream/stream-event'
import { expect, test } from 'vitest'
import type { AttemptOptions } from './attempt-plain.ts'
import { attemptStream } from './attempt-stream.ts'

interface Handlers {
  onStart(status: number, readHeaders: () => object): void
  onData(chunk: Buffer): void
}

class CountingPermit {
  counted = 0

  receive(bytes: number): boolean {
    this.counted += bytes
    return true
  }

  dropReceived(bytes: number): void {
    this.counted -= bytes
  }
}

interface StreamOptions {
  readonly permit?: CountingPermit
  readonly framing?: Framing
}

/** Attempts a stream whose first chunk this is. `decoded`: the texts of its events. */
async function attempt(chunk: string, { permit, framing = 'sse' }: StreamOptions = {}) {
  const decoded: string[] = []
  const decoder: StreamDecoder = {
    decode(data): readonly StreamEvent[] {
      decoded.push(data)
      if (data === 'throw') throw new Error('unreadable')
      if (data === 'fail') return [{ type: 'error', error: { kind: 'overloaded', detail: 'busy' } }]
      return [{ type: 'delta', index: 0, content: data === 'role' ? '' : data }]
    },
  }
  const ctx = {
    permit,
    watch() {},
    unwatch() {},
    fail: (error: unknown) => expect.unreachable(String(error)),
  }
  const transport = {
    call(_: unknown, handlers: Handlers) {
      queueMicrotask(() => {
        handlers.onStart(200, () => ({}))
        handlers.onData(Buffer.from(chunk))
      })
      return { abort() {} }
    },
  }
  const format = { framing, openStream: () => decoder }
  const options = { ctx, transport, format, timeoutMs: 1_000 } as unknown as AttemptOptions
  return { decoded, result: await attemptStream(options, () => {}) }
}

async function open(chunk: string, options?: StreamOptions) {
  const { decoded, result } = await attempt(chunk, options)
  if (!result.ok) return expect.unreachable('the stream did not open')
  return { decoded, stream: result.value }
}

test.each([
  ['\n', ['data: role\n\n', 'data: a\n\n', 'data: b\n\ndata: c\n\nda']],
  ['\r\n', ['data: role\r\n\r\n', 'data: a\r\n\r\n', 'data: b\r\n\r\ndata: c\r\n\r\nda']],
])(
  'decodes no event of a chunk behind the one that opens the stream, with lines that end in %j',
  async (_, parts) => {
    const { decoded, stream } = await open(parts.join(''))
    expect(decoded).toEqual(['role', 'a'])
    const received: string[] = []
    stream.pipe({
      onFirstFrames: frames => {
        for (const { frame } of frames) received.push(`decoded ${frame.data}`)
      },
      onFrame() {},
      onChunk: chunk => received.push(chunk.toString()),
      onEnd() {},
      onError() {},
    })
    expect(received).toEqual(['decoded role', 'decoded a', parts[2]])
  },
)

test('nothing is counted any more of a stream that failed before it opened, events included', async () => {
  const permit = new CountingPermit()
  const { result } = await attempt('data: role\n\ndata: fail\n\n', { permit })
  expect(result).toMatchObject({ ok: false, error: { kind: 'overloaded' } })
  expect(permit.counted).toBe(0)
})

test('a stream that cannot be read behind its first output, in the same chunk, breaks off there', async () => {
  const { stream } = await open('a\nthrow\nb\n', { framing: 'ndjson' })
  const received: string[] = []
  stream.pipe({
    onFirstFrames: frames => {
      for (const { frame } of frames) received.push(frame.data)
    },
    onFrame() {},
    onChunk: chunk => received.push(chunk.toString()),
    onEnd: () => received.push('end'),
    onError: ({ detail }) => received.push(detail),
  })
  expect(received).toEqual(['a', 'Error: unreadable'])
})

test('counts what is buffered before the first meaningful event as four times its bytes and 400 an event, until it is passed on', async () => {
  const permit = new CountingPermit()
  const { stream } = await open('data: role\n\ndata: a\n\n', { permit })
  expect(permit.counted).toBe(4 * 21 + 2 * 400)
  stream.pipe({ onFirstFrames() {}, onFrame() {}, onChunk() {}, onEnd() {}, onError() {} })
  expect(permit.counted).toBe(0)
})

test('a stream has 16,384 events before its output at most', async () => {
  const { result } = await attempt('data: role\n\n'.repeat(16 * 1024 + 1))
  const detail = expect.stringContaining('16385 events')
  expect(result).toMatchObject({ ok: false, error: { kind: 'unavailable', detail } })
})
