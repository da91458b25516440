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

test('a stream has at most 4 Mi characters of reasoning, as text or as details', () => {
  const piece = 'x'.repeat(64 * 1024)
  // A detail counts its format and 200 characters besides.
  const detail = { type: 'reasoning.text', format: 'unknown', text: piece.slice(207) } as const
  for (const fields of [{ reasoning: piece }, { reasoningDetails: [detail] }]) {
    const decoder = { decode: (): readonly StreamEvent[] => [{ type: 'delta', index: 0, ...fields }] }
    let frames = 0
    const reader = new StreamReader('sse', decoder, { onFrame: () => frames++ })
    const push = (): void => reader.push(Buffer.from('data: x\n\n'))
    for (let at = 0; at < 64; at++) push()
    expect(push).toThrow('the reasoning of the stream is too long')
    expect(frames).toBe(64)
  }
})

test('a decoder keeps 16 MiB of a stream at most', () => {
  const decoder = { unsent: 16 * 1024 * 1024, decode: (): readonly StreamEvent[] => [] }
  const reader = new StreamReader('sse', decoder, { onFrame: () => {} })
  const push = (): void => reader.push(Buffer.from('data: x\n\n'))
  push()
  decoder.unsent++
  expect(push).toThrow('too much of the stream waits')
})
