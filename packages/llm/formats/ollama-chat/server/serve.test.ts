import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { ollama } from '../../../providers/ollama.ts'
import type { ChatReply } from '../../../reply/chat-reply.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { addUp } from '../../../testing/add-up.ts'
import { findDifferences, openJustifications } from '../../../testing/explain-differences.ts'
import { JUSTIFIED } from '../../../testing/justified/ollama-chat.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import type { Usage } from '../../../usage/usage.ts'
import { ollamaChat } from '../client/client.ts'
import { encodeReply } from './encode-reply.ts'
import { LineEncoder } from './encode-stream.ts'
import { toImageUrl } from './parse-messages.ts'
import { parseRequest } from './parse-request.ts'

const ENVELOPE = { id: 'r1', created: 0, model: 'p/m' }
const TOOK = { firstMs: 2, totalMs: 5 }
const USAGE: Usage = { uncachedInput: 5, cacheRead: 0, cacheWrite: 0, output: 3, reasoning: 0 }
const TARGET: Target = { provider: ollama, model: 'm', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: '' }
const fn = (name: string, args: string) => ({ name, arguments: args })

const toRequest = (body: JsonObject): ChatRequest =>
  parseRequest(
    { model: 'm', ...body },
    { source: toSourceBody('ollama-chat', body), pathModel: '', isEndUser: false },
  ).request

/** What a body asks of any provider. */
function readAsked(body: JsonObject): Partial<ChatRequest> {
  const { model: _, stream: _stream, includeUsage: _usage, ownFields: _own, ...asked } = toRequest(body)
  return asked
}

describe('a request of this format for another provider', () => {
  test('has every field of canonical meaning', () => {
    const asked = readAsked({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: 'see', images: ['iVBORw0KGgo=', '/9j/4AA='] },
        {
          role: 'assistant',
          content: '',
          thinking: 'hm',
          tool_calls: [
            { function: { name: 'f', arguments: { a: 1 } } },
            { id: 'theirs', function: { name: 'g', arguments: {} } },
            { function: { name: 'f', arguments: { a: 2 } } },
          ],
        },
        { role: 'tool', tool_name: 'g', content: '3' },
        { role: 'tool', content: '1' },
        { role: 'tool', tool_name: 'f', content: '2' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'd' } }],
      format: { type: 'object' },
      think: 'high',
      options: { num_predict: 9, temperature: 0, stop: 'x', num_ctx: 4096 },
    })
    const ids = asked.messages?.[2]?.tool_calls?.map(({ id }) => id) ?? []
    expect(new Set(ids).size).toBe(3)
    expect(asked).toEqual({
      messages: [
        { role: 'system', content: 'a' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/4AA=' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning: 'hm',
          tool_calls: [
            { id: ids[0], type: 'function', function: fn('f', '{"a":1}') },
            { id: 'theirs', type: 'function', function: fn('g', '{}') },
            { id: ids[2], type: 'function', function: fn('f', '{"a":2}') },
          ],
        },
        { role: 'tool', tool_call_id: 'theirs', content: '3' },
        { role: 'tool', tool_call_id: ids[0], content: '1' },
        { role: 'tool', tool_call_id: ids[2], content: '2' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object', properties: {} } },
        },
      ],
      responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      reasoningEffort: 'high',
      maxOutputTokens: 9,
      temperature: 0,
      stop: ['x'],
    })
  })

  test.each([
    [{ think: true }, { reasoningEffort: 'medium' }],
    [{ think: false }, { reasoningEffort: 'none' }],
    [{ format: 'json' }, { responseFormat: { type: 'json_object' } }],
    [{ format: '' }, {}],
    [{ options: { num_predict: -1, seed: null } }, {}],
  ])('%j', (fields, asked) => {
    const messages = [{ role: 'user', content: 'hi' }]
    expect(readAsked({ messages, ...fields })).toEqual({ messages, ...asked })
  })

  test('an image is recognised by its first bytes, and everything else is refused', () => {
    expect(toImageUrl('R0lGODlh')).toBe('data:image/gif;base64,R0lGODlh')
    expect(toImageUrl('UklGRg==')).toBe('data:image/webp;base64,UklGRg==')
    expect(toImageUrl('data:image/png;base64,AA')).toBe('data:image/png;base64,AA')
    for (const none of ['JVBERi0=', 'https://x/y.png', 'file:///etc/passwd', '', 1])
      expect(toImageUrl(none)).toBeUndefined()
  })
})

test('a request for a provider of this format keeps its own fields, with the gateway’s output cap', () => {
  const body = {
    model: 'x',
    messages: [{ role: 'user', content: 'hi' }],
    stream: false,
    think: 'high',
    keep_alive: '5m',
    truncate: false,
    options: { top_k: 3, num_ctx: 4096, num_predict: 99, somethingNew: 1 },
  }
  const source = toSourceBody('ollama-chat', body)
  const sent = ollamaChat.encodeRequest({ ...toRequest(body), maxOutputTokens: 9 }, TARGET, source, [
    'options.somethingNew',
  ])
  expect(JSON.parse(sent.body.toString())).toEqual({
    ...body,
    model: 'm',
    options: { top_k: 3, num_ctx: 4096, num_predict: 9 },
  })
})

describe('an answer for a caller of this format', () => {
  test('has every field that clients read', () => {
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
    const encoded = encodeReply(reply, ENVELOPE, TOOK)
    expect(encoded).toEqual({
      model: 'p/m',
      created_at: '1970-01-01T00:00:00.000Z',
      message: {
        role: 'assistant',
        content: 'hi',
        thinking: 'hm',
        tool_calls: [{ id: 'c1', function: { index: 0, name: 'f', arguments: { a: 1 } } }],
      },
      done: true,
      done_reason: 'stop',
      total_duration: 5_000_000,
      load_duration: 0,
      prompt_eval_count: 5,
      prompt_eval_duration: 2_000_000,
      eval_count: 3,
      eval_duration: 3_000_000,
    })
    expect(ollamaChat.decodeReply(encoded, TARGET)).toEqual(reply)
  })

  test('decodes to the same stream, with each call complete and sent once', () => {
    const piece = fc.oneof(fc.record({ content: fc.string() }), fc.record({ reasoning: fc.string() }))
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.string(), { maxLength: 3 }), (pieces, values) => {
        const events: StreamEvent[] = pieces.map(each => ({ type: 'delta', index: 0, ...each }))
        for (const [index, value] of values.entries()) {
          const text = JSON.stringify({ value })
          const head = { index, id: `c${index}`, type: 'function' as const }
          events.push(
            {
              type: 'delta',
              index: 0,
              toolCalls: [{ ...head, function: fn('f', text.slice(0, 3)) }],
            },
            { type: 'delta', index: 0, toolCalls: [{ index, function: { arguments: text.slice(3) } }] },
          )
        }
        const reason = values.length > 0 ? ('tool_calls' as const) : ('stop' as const)
        const encoder = new LineEncoder(ENVELOPE)
        const lines = [
          ...events.flatMap(event => encoder.encode(event)),
          ...encoder.finish(reason, USAGE, TOOK),
        ]
        const decoder = ollamaChat.openStream(TARGET)
        const heard = addUp(lines.flatMap(line => decoder.decode(JSON.stringify(line))))
        expect(heard).toEqual({ ...addUp(events), finishReason: reason, usage: USAGE, isEnded: true })
      }),
    )
  })
})

const FOLDER = new URL('../../../../../../shared/wire/ollama/', import.meta.url)
const exists = existsSync(FOLDER)
if (!exists) console.log('skipped: the recordings of ../shared/wire are not there (7 exchanges with Ollama)')

describe.skipIf(!exists)('what was recorded', () => {
  const names = exists ? readdirSync(FOLDER).filter(name => name.startsWith('ollama-chat__')) : []
  const justified = openJustifications(JUSTIFIED)
  /** Returns the body without fields that say nothing. */
  const normalize = (body: JsonObject): JsonObject => {
    const isEmpty = (value: unknown): boolean => ['[]', '{}', '""', 'null'].includes(JSON.stringify(value))
    return Object.fromEntries(Object.entries(body).filter(([, value]) => !isEmpty(value)))
  }

  test.each(names)('%s: request and answer are the same after decoding and encoding', name => {
    const { request, response, model } = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))
    const sent = JSON.parse(request.body) as JsonObject
    const target = { ...TARGET, model }
    for (const source of [undefined, toSourceBody('ollama-chat', sent)]) {
      const { body } = ollamaChat.encodeRequest(toRequest(sent), target, source)
      const differences = findDifferences(normalize(JSON.parse(body.toString())), normalize(sent))
      expect(justified.unexplained(name, differences)).toEqual([])
    }
    const reply = ollamaChat.decodeReply(JSON.parse(response.body), target)
    expect(ollamaChat.decodeReply(encodeReply(reply, ENVELOPE, TOOK), target)).toEqual(reply)
  })
})
