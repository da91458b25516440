import fc from 'fast-check'
import type OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import { decodeReply } from '../client/decode-reply.ts'
import { openStream } from '../client/decode-stream.ts'
import { encodeReply } from './encode-reply.ts'
import { openChunkEncoder } from './encode-stream.ts'

const target: Target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }
const ENVELOPE = { id: 'req-1', created: 1_700_000_000, model: 'openai/x' }
const USAGE = { uncachedInput: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 }
const CALL = { id: 'a', type: 'function' as const, function: { name: 'f', arguments: '{}' } }

const REPLY: ChatReply = {
  choices: [
    { index: 0, message: { role: 'assistant', content: 'hi', reasoning: 'r' }, finishReason: 'stop' },
    {
      index: 1,
      message: { role: 'assistant', content: null, tool_calls: [CALL] },
      finishReason: 'tool_calls',
    },
    { index: 2, message: { role: 'assistant', content: null, refusal: 'no' }, finishReason: 'stop' },
  ],
  usage: USAGE,
}

describe('encodeReply', () => {
  test("writes every field that OpenAI's schema requires, and usage by OpenAI's arithmetic", () => {
    const body: OpenAI.ChatCompletion & JsonObject = encodeReply(
      REPLY,
      ENVELOPE,
    ) as unknown as OpenAI.ChatCompletion & JsonObject
    expect(body).toEqual({
      ...ENVELOPE,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', refusal: null, reasoning_content: 'r' },
          logprobs: null,
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: { role: 'assistant', content: null, refusal: null, tool_calls: [CALL] },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
        {
          index: 2,
          message: { role: 'assistant', content: null, refusal: 'no' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 6,
        completion_tokens: 9,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    })
  })

  test('is decoded to the same reply', () => {
    expect(decodeReply(encodeReply(REPLY, ENVELOPE), target)).toEqual(REPLY)
  })

  test('leaves unknown usage out', () => {
    expect(encodeReply({ ...REPLY, usage: undefined }, ENVELOPE)).not.toHaveProperty('usage')
  })
})

describe('openChunkEncoder', () => {
  const EVENTS: StreamEvent[] = [
    { type: 'delta', index: 0, content: 'a', reasoning: 'r' },
    { type: 'delta', index: 0, toolCalls: [{ index: 0, ...CALL }] },
    { type: 'delta', index: 0, finishReason: 'tool_calls' },
    { type: 'usage', usage: USAGE },
    { type: 'end' },
  ]
  const encode = (includeUsage: boolean) => {
    const encoder = openChunkEncoder(ENVELOPE, { includeUsage })
    return EVENTS.flatMap(event => encoder.encode(event))
  }

  test('writes the role once, in the first chunk, and id, object, time and finish_reason in every chunk', () => {
    const chunks = encode(false)
    expect(chunks).toHaveLength(3)
    expect(chunks.map(chunk => (chunk.choices as JsonObject[])[0]?.delta)).toEqual([
      { role: 'assistant', content: 'a', reasoning_content: 'r' },
      { tool_calls: [{ index: 0, ...CALL }] },
      {},
    ])
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ ...ENVELOPE, object: 'chat.completion.chunk' })
      expect(chunk).not.toHaveProperty('usage')
    }
    expect(chunks.map(chunk => (chunk.choices as JsonObject[])[0]?.finish_reason)).toEqual([
      null,
      null,
      'tool_calls',
    ])
  })

  test('writes usage if it was asked for: null in all chunks but its own, which has no choices', () => {
    const chunks = encode(true)
    expect(chunks.map(chunk => chunk.usage === null)).toEqual([true, true, true, false])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 15 } })
  })

  test('writes frames that are the chunks as JSON, whatever they hold', () => {
    const text = fc.string({ unit: 'binary' })
    const delta = fc.record(
      {
        type: fc.constant('delta' as const),
        index: fc.nat(2),
        role: fc.constant('assistant' as const),
        content: text,
        reasoning: text,
        reasoningDetails: fc.constant([
          { type: 'reasoning.text' as const, format: 'google-gemini-v1' as const },
        ]),
        refusal: text,
        toolCalls: fc.constant([{ index: 0, ...CALL }]),
        finishReason: fc.constant('stop' as const),
      },
      { requiredKeys: ['type', 'index'] },
    )
    const event = fc.oneof(
      delta,
      fc.constantFrom<StreamEvent>({ type: 'usage', usage: USAGE }, { type: 'end' }),
    )
    fc.assert(
      fc.property(fc.array(event), fc.boolean(), (events, includeUsage) => {
        const [one, other] = [1, 2].map(() => openChunkEncoder(ENVELOPE, { includeUsage }))
        for (const each of events) {
          const chunks = one?.encode(each) ?? []
          const frames = chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')
          expect(other?.encodeFrames(each)).toBe(frames)
        }
      }),
    )
  })

  test('is decoded to the same events', () => {
    const decoder = openStream(target)
    const events = encode(true).flatMap(chunk => decoder.decode(JSON.stringify(chunk)))
    const [first, ...rest] = EVENTS.slice(0, -1)
    expect(events).toEqual([{ ...first, role: 'assistant' }, ...rest])
  })
})
