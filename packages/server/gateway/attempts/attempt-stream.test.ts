import type { StreamDecoder, StreamEvent } from '@rideau/llm/stream/stream-event'
import { expect, test } from 'vitest'
import type { AttemptOptions } from './attempt-plain.ts'
import { attemptStream } from './attempt-stream.ts'

interface Handlers {
  onStart(status: number, readHeaders: () => object): void
  onData(chunk: Buffer): void
}

/** An attempt at a stream whose first chunk this is, with the texts that were decoded. */
async function open(chunk: string, permit?: object) {
  const decoded: string[] = []
  const decoder: StreamDecoder = {
    decode(data): readonly StreamEvent[] {
      decoded.push(data)
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
  const format = { framing: 'sse', openStream: () => decoder }
  const options = { ctx, transport, format, timeoutMs: 1_000 } as unknown as AttemptOptions
  const result = await attemptStream(options, () => {})
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
      onFrame: (_events, { data }) => received.push(`decoded ${data}`),
      onChunk: chunk => received.push(chunk.toString()),
      onEnd() {},
      onError() {},
    })
    expect(received).toEqual(['decoded role', 'decoded a', parts[2]])
  },
)

test('counts what is buffered before the first meaningful event as four times its bytes, until it is passed on', async () => {
  let counted = 0
  const permit = {
    receive(bytes: number) {
      counted += bytes
      return true
    },
    dropReceived(bytes: number) {
      counted -= bytes
    },
  }
  const { stream } = await open('data: role\n\ndata: a\n\n', permit)
  expect(counted).toBe(4 * 21)
  stream.pipe({ onFrame() {}, onChunk() {}, onEnd() {}, onError() {} })
  expect(counted).toBe(0)
})
