import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Usage } from '../../../usage/usage.ts'
import { listHandedDetails, packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { encodeReply } from '../wire/encode-reply.ts'
import { ContentEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

const ENVELOPE = { id: 'r1', created: 0, model: 'p/m' }
const TARGET = { provider: custom, model: 'm', baseUrl: 'https://a.example/v1', apiKey: '' }
const SHOWN = { thoughts: true }
const USAGE: Usage = { uncachedInput: 5, cacheRead: 2, cacheWrite: 0, output: 3, reasoning: 4 }
const fn = (name: string, args: string) => ({ name, arguments: args })
const parse = (body: JsonObject): ParsedChat => {
  const source = toSourceBody('gemini-content', body)
  return parseRequest(body, { source, pathModel: 'm', isEndUser: false }, false)
}

describe('an answer for a caller of this format', () => {
  const reply: ChatReply = {
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'hi',
          reasoning: 'hm',
          tool_calls: [{ id: 'c1', type: 'function', function: fn('f', '{"a":1}') }],
        },
        finishReason: 'tool_calls',
      },
    ],
    usage: USAGE,
  }

  test('has every field that clients read, with usage as this format counts it', () => {
    expect(encodeReply(reply, ENVELOPE, SHOWN)).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'hm', thought: true },
              { text: 'hi' },
              { functionCall: { id: 'c1', name: 'f', args: { a: 1 } } },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 7,
        cachedContentTokenCount: 2,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 4,
        totalTokenCount: 14,
      },
      modelVersion: 'p/m',
      responseId: 'r1',
    })
    expect(decodeReply(encodeReply(reply, ENVELOPE, SHOWN), TARGET)).toEqual(reply)
    expect(JSON.stringify(encodeReply(reply, ENVELOPE, { thoughts: false }))).not.toContain('hm')
  })

  test('carries the state of another format’s reasoning in the ids of calls', () => {
    const detail = {
      type: 'reasoning.text',
      format: 'anthropic-claude-v1',
      text: 'hm',
      signature: 's',
    } as const
    const id = packToolCallId('c1', [detail])
    const calls = [{ id, type: 'function' as const, function: fn('f', '{}') }]
    const message = { role: 'assistant' as const, content: null, tool_calls: calls }
    const encoded = encodeReply(
      { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE },
      ENVELOPE,
      SHOWN,
    )
    const { content } = (encoded.candidates as JsonObject[])[0] as JsonObject
    const result = { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] }
    const { messages } = parse({ contents: [content as JsonObject, result] }).request
    expect(messages[0]?.tool_calls?.[0]?.id).toBe(id)
    expect(messages[1]?.tool_call_id).toBe(id)
  })

  test('has no signature in a part if an aggregator handed it on, who gets it back from the id', () => {
    const detail = { type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'S', id: 'c1' } as const
    const handed = { ...detail, via: 'broker' }
    const id = packToolCallId('c1', [handed])
    const calls = [{ id, type: 'function' as const, function: fn('f', '{}') }]
    const message = {
      role: 'assistant' as const,
      content: null,
      tool_calls: calls,
      reasoning_details: [handed],
    }
    const encoded = encodeReply(
      { choices: [{ index: 0, message, finishReason: 'tool_calls' }], usage: USAGE },
      ENVELOPE,
      SHOWN,
    )
    const { content } = (encoded.candidates as JsonObject[])[0] as JsonObject
    expect(content).toEqual({ role: 'model', parts: [{ functionCall: { id, name: 'f', args: {} } }] })
    const { messages } = parse({ contents: [content as JsonObject] }).request
    expect(listHandedDetails({ ...messages[0] }, 'broker')).toEqual([detail])
  })

  test('has the same texts and calls as any stream, with each call complete and once', () => {
    const piece = fc.oneof(
      fc.record({ content: fc.string() }),
      fc.record({ reasoning: fc.string() }),
      fc.record({ call: fc.nat(2), value: fc.string() }),
    )
    fc.assert(
      fc.property(fc.array(piece), pieces => {
        const begun: number[] = []
        const events: StreamEvent[] = []
        for (const each of pieces) {
          if (!('call' in each)) events.push({ type: 'delta', index: 0, ...each })
          else if (!begun.includes(each.call)) {
            // The arguments come in two pieces.
            const text = JSON.stringify({ value: each.value })
            const index = begun.push(each.call) - 1
            const head = { index, id: `c${index}`, type: 'function' as const }
            events.push({ type: 'delta', index: 0, toolCalls: [{ ...head, function: fn('f', '') }] })
            for (const part of [text.slice(0, 3), text.slice(3)])
              events.push({ type: 'delta', index: 0, toolCalls: [{ index, function: { arguments: part } }] })
          }
        }
        const reason = begun.length > 0 ? ('tool_calls' as const) : ('stop' as const)
        const encoder = new ContentEncoder(ENVELOPE, SHOWN)
        const chunks = [...events.flatMap(event => encoder.encode(event)), encoder.finish(reason, USAGE)]
        const decoder = openStream(TARGET)
        const heard = addUp(chunks.flatMap(chunk => decoder.decode(JSON.stringify(chunk))))
        expect(heard).toEqual({ ...addUp(events), finishReason: reason, usage: USAGE })
      }),
    )
  })

  test('leaves out a call whose arguments were cut', () => {
    const encoder = new ContentEncoder(ENVELOPE, SHOWN)
    encoder.encode({
      type: 'delta',
      index: 0,
      toolCalls: [{ index: 0, id: 'c', type: 'function', function: fn('rm', '{"path":"/a') }],
    })
    const [candidate] = encoder.finish('length', USAGE).candidates as JsonObject[]
    expect(candidate).toMatchObject({ finishReason: 'MAX_TOKENS', content: { parts: [{ text: '' }] } })
  })
})
