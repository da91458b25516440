import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import type { Message, ToolCall } from '../../../request/message.ts'
import { addUp } from '../../../testing/add-up.ts'
import { FORMAT } from '../../shared/claude/claude-thinking.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeMessages } from './encode-messages.ts'

const MODEL = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const encode = (...messages: Message[]): JsonObject[] =>
  encodeMessages([{ role: 'user', content: 'Go' }, ...messages], MODEL, { toolsAsText: false }).messages
const call = (id: string): ToolCall => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
})

describe('thinking of earlier answers', () => {
  const sealed = Buffer.from('sealed').toString('base64')
  const BLOCKS: JsonObject[] = [
    { reasoningContent: { reasoningText: { text: 'hm', signature: 's1' } } },
    { text: 'Let me see.' },
    { reasoningContent: { redactedContent: sealed } },
    { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 } } },
    { reasoningContent: { reasoningText: { text: 'so', signature: 's2' } } },
    { toolUse: { toolUseId: 't2', name: 'f', input: { a: 1 } } },
  ]

  /** The message as a client keeps it that drops all fields but OpenAI's. */
  const toStandard = (calls: readonly ToolCall[]): Message => ({
    role: 'assistant',
    content: 'Let me see.',
    tool_calls: [...calls],
  })

  test('stands where it stood, from reasoning_details and from the ids of calls alone', () => {
    const body = { output: { message: { role: 'assistant', content: BLOCKS } }, stopReason: 'tool_use' }
    const message = decodeReply(body).choices[0]?.message
    const calls = message?.tool_calls ?? []
    const details = message?.reasoning_details
    expect(encode(toStandard(calls))[1]?.content).toEqual(BLOCKS)
    const plain = { ...toStandard([call('t1'), call('t2')]), reasoning_details: details }
    expect(encode(plain)[1]?.content).toEqual(BLOCKS)
  })

  test('stands where it stood in a stream', () => {
    const { calls, details } = readStream([
      [0, { reasoningContent: { text: 'hm' } }, { reasoningContent: { signature: 's1' } }],
      [1, { text: 'Let me see.' }],
      [2, { reasoningContent: { redactedContent: sealed } }],
      [3, { toolUse: { toolUseId: 't1', name: 'f' } }],
      [4, { reasoningContent: { text: 'so' } }, { reasoningContent: { signature: 's2' } }],
      [5, { toolUse: { toolUseId: 't2', name: 'f' } }],
    ])
    const standard = toStandard(calls.map(({ id }) => call(id)))
    expect(encode(standard)[1]?.content).toEqual(BLOCKS)
    const plain = { ...toStandard([call('t1'), call('t2')]), reasoning_details: details }
    expect(encode(plain)[1]?.content).toEqual(BLOCKS)
  })

  test('is left out of a turn that has nothing else, which Claude refuses', () => {
    const details = [{ type: 'reasoning.text', format: FORMAT, text: 'hm', signature: 's', index: 0 }]
    const sent = encode(
      { role: 'assistant', content: '', reasoning_details: details },
      { role: 'user', content: 'And?' },
    )
    expect(sent).toEqual([{ role: 'user', content: [{ text: 'Go' }, { text: 'And?' }] }])
  })
})

/** Decodes a stream of blocks: the index of each, and its deltas. A call's block has its start alone. */
function readStream(blocks: readonly [number, ...JsonObject[]][]): ReturnType<typeof addUp> {
  const decoder = openStream()
  const events = blocks.flatMap(([contentBlockIndex, ...deltas]) => [
    ...deltas.flatMap(delta => {
      const isStart = (delta.toolUse as JsonObject | undefined)?.name !== undefined
      const body = { contentBlockIndex, [isStart ? 'start' : 'delta']: delta }
      return decoder.decode(JSON.stringify(body), isStart ? 'contentBlockStart' : 'contentBlockDelta')
    }),
    ...decoder.decode(JSON.stringify({ contentBlockIndex }), 'contentBlockStop'),
  ])
  return addUp(events)
}
