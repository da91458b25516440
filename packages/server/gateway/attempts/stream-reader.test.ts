import type { StreamDecoder, StreamEvent } from '@rideau/llm/stream/stream-event'
import { expect, test } from 'vitest'
import { StreamReader } from './stream-reader.ts'

test('frames behind the end of a stream are not decoded', () => {
  const decoded: string[] = []
  const decoder: StreamDecoder = {
    decode(data): readonly StreamEvent[] {
      decoded.push(data)
      return data === 'last' ? [{ type: 'end' }] : [{ type: 'delta', index: 0, content: data }]
    },
  }
  const received: string[] = []
  const reader = new StreamReader('sse', decoder, { onFrame: (_events, frame) => received.push(frame.data) })
  reader.push(Buffer.from('data: first\n\ndata: last\n\ndata: more\n\n'))
  reader.push(Buffer.from('data: and more\n\n'))
  reader.end()
  expect(decoded).toEqual(['first', 'last'])
  expect(received).toEqual(decoded)
})
