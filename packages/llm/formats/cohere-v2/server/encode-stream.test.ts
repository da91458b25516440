import { expect, test } from 'vitest'
import { ChatEventEncoder } from './encode-stream.ts'

test('a call whose provider sends no arguments has an empty object', () => {
  const encoder = new ChatEventEncoder({ id: 'i', created: 0, model: 'm' })
  const call = { index: 0, id: 'c', type: 'function', function: { name: 'now' } } as const
  encoder.encode({ type: 'delta', index: 0, toolCalls: [call] })
  const usage = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
  expect(encoder.finish('tool_calls', usage)).toContainEqual({
    type: 'tool-call-delta',
    index: 0,
    delta: { message: { tool_calls: { function: { arguments: '{}' } } } },
  })
})
