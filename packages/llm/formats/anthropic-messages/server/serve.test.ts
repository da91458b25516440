import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { ToolCall } from '../../../request/message.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { anyStream } from '../../../testing/any-stream.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { encodeRequest as encodeForOpenAi } from '../../openai-chat/client/encode-request.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { encodeMessages } from '../client/encode-messages.ts'
import { encodeReply } from './encode-reply.ts'
import { MessageEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

const target: Target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }
const ENVELOPE = { id: 'msg_1', created: 0, model: 'p/m' }
const USAGE: Usage = {
  uncachedInput: 1,
  cacheRead: 2,
  cacheWrite: 3,
  cacheWrite1h: 4,
  output: 5,
  reasoning: 6,
}
const parse = (fields: JsonObject): ChatRequest =>
  parseRequest(
    { model: 'x', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...fields },
    { source: toSourceBody('anthropic-messages', {}), pathModel: '', isEndUser: false },
  ).request
const call = (id: string, args = '{"a":1}'): ToolCall => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
})

describe('an answer for a caller of this format', () => {
  test('has every field that clients read, and counts tokens as this format does', () => {
    const reply: ChatReply = {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', reasoning: 'hm', tool_calls: [call('a.1')] },
          finishReason: 'tool_calls',
        },
      ],
      usage: USAGE,
    }
    expect(encodeReply(reply, ENVELOPE)).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'p/m',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'rideau-thinking' },
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 'a_1', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 1,
        cache_creation_input_tokens: 7,
        cache_read_input_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
        output_tokens: 11,
        output_tokens_details: { thinking_tokens: 6 },
      },
    })
  })

  test('keeps signatures of Claude, plain and streamed', () => {
    const details = [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 's', index: 0 },
      { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'd', index: 1 },
    ] as const
    const blocks = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'hi' },
    ]
    const message = { role: 'assistant' as const, content: 'hi', reasoning: 'hm', reasoning_details: details }
    const reply = { choices: [{ index: 0, message, finishReason: 'stop' as const }], usage: USAGE }
    expect(encodeReply(reply, ENVELOPE).content).toEqual(blocks)
    const encoder = new MessageEncoder(ENVELOPE)
    const events: StreamEvent[] = [
      { type: 'delta', index: 0, reasoning: 'hm' },
      { type: 'delta', index: 0, reasoningDetails: details },
      { type: 'delta', index: 0, content: 'hi' },
    ]
    const wire = [...events.flatMap(event => encoder.encode(event)), ...encoder.finish('stop', USAGE)]
    const decoder = openStream(target)
    const decoded = wire.flatMap(event => decoder.decode(JSON.stringify(event)))
    expect(decoded.flatMap(event => (event.type === 'delta' ? (event.reasoningDetails ?? []) : []))).toEqual(
      details,
    )
  })

  test('any stream: blocks begin before they continue, end once, and decode to the same content', () => {
    fc.assert(
      fc.property(anyStream, ({ events, said }) => {
        const encoder = new MessageEncoder(ENVELOPE)
        const wire = [
          ...events.flatMap(event => encoder.encode(event)),
          ...encoder.finish(said.calls.length > 0 ? 'tool_calls' : 'stop', USAGE),
        ]
        expectSound(wire)
        const decoder = openStream(target)
        const sum = addUp(wire.flatMap(each => decoder.decode(JSON.stringify(each))))
        expect({
          content: sum.content,
          reasoning: sum.reasoning,
          calls: sum.calls.map(({ arguments: text }) => text),
        }).toEqual(said)
        expect(sum.usage).toEqual(USAGE)
      }),
    )
  })
})

function expectSound(wire: readonly JsonObject[]): void {
  const open = new Set<unknown>()
  const seen = new Set<unknown>()
  expect([wire[0]?.type, wire.at(-2)?.type, wire.at(-1)?.type]).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ])
  for (const { type, index } of wire.slice(1, -2)) {
    if (type === 'content_block_start') {
      expect(index).toBe(seen.size)
      seen.add(index)
      open.add(index)
    } else expect(open.has(index)).toBe(true)
    if (type === 'content_block_stop') open.delete(index)
  }
  expect(open.size).toBe(0)
}

describe('a request of this format for another provider', () => {
  const body: JsonObject = {
    system: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
            title: 't',
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'ok' },
          { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          { type: 'tool_use', id: 't1', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'more' },
          { type: 'tool_result', tool_use_id: 't1', content: 'r', is_error: true },
        ],
      },
    ],
    tools: [
      { name: 'f', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
      { type: 'computer_20251124', name: 'computer' },
    ],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 10_000 },
    output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    context_management: { edits: [] },
  }

  test('becomes the canonical request', () => {
    const asked = parse(body)
    expect(asked).toMatchObject({
      toolChoice: { type: 'function', function: { name: 'f' } },
      parallelToolCalls: false,
      reasoningEffort: 'medium',
      responseFormat: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    })
    expect(asked.tools).toHaveLength(1)
    expect(asked.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user'])
  })

  test('has nothing of this format when it is sent in OpenAI’s', () => {
    const request = parse(body)
    const source = {
      format: 'anthropic-messages' as const,
      bytes: Buffer.from('{}'),
      value: {},
      fields: new Map(),
    }
    const sent = JSON.parse(encodeForOpenAi(request, target, source).body.toString())
    expect(sent.messages).toEqual([
      { role: 'system', content: 'a\nb' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'file', file: { filename: 't', file_data: 'data:application/pdf;base64,AAAA' } },
          { type: 'text', text: 'words' },
        ],
      },
      { role: 'assistant', content: 'ok', tool_calls: [call('t1', '{}')] },
      { role: 'tool', tool_call_id: 't1', content: 'Error: r' },
      { role: 'user', content: 'more' },
    ])
    expect(sent.tools).toEqual([
      { type: 'function', function: { name: 'f', parameters: { type: 'object' } } },
    ])
    expect(JSON.stringify(sent)).not.toMatch(/cache_control|signature|context_management|reasoning_details/)
  })

  test('is the same when it is sent in this format again', () => {
    const { system, messages } = encodeMessages(parse(body).messages)
    expect(system).toEqual(body.system)
    expect(messages[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'ok' },
        { type: 'tool_use', id: 't1', name: 'f', input: {} },
      ],
    })
    expect(messages[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'r', is_error: true },
        { type: 'text', text: 'more' },
      ],
    })
  })

  test.each([
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, 'none'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' } }, 'xhigh'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ output_config: { effort: 'unheard-of' } }, 'high'],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 32_000 } }, 'high'],
  ])('%j asks for the effort %s', (fields, effort) => {
    expect(parse(fields).reasoningEffort).toBe(effort)
  })
})

test('an answer that was encoded decodes to itself', () => {
  const message = { role: 'assistant' as const, content: 'hi', tool_calls: [call('t1')] }
  const reply: ChatReply = { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE }
  expect(decodeReply(encodeReply(reply, ENVELOPE), target)).toEqual(reply)
})
