import { parseRequest as parseMessages } from '@rideau/llm/formats/anthropic-messages/server/parse-request'
import { parseRequest as parseChat } from '@rideau/llm/formats/openai-chat/server/parse-request'
import { parseRequest as parseResponses } from '@rideau/llm/formats/openai-responses/server/parse-request'
import type { JsonObject } from '@rideau/llm/json/json-value'
import type { ChatRequest } from '@rideau/llm/request/chat-request'
import { expect, test } from 'vitest'
import { countMaxInput } from './count-input.ts'
import { countUnread } from './count-unread.ts'

const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(2_000)
const BASE64 = 'QUJD'.repeat(50_000)
const context = (value: JsonObject) => ({
  source: { format: 'openai-chat' as const, bytes: Buffer.alloc(0), value, fields: new Map() },
  pathModel: '',
  isEndUser: false,
})

type Parse = (body: JsonObject) => ChatRequest

const chat: Parse = body => parseChat(body, context(body)).request
const messages: Parse = body => parseMessages(body, context(body)).request
const responses: Parse = body => parseResponses(body, context(body)).request

const TOOL = { description: LONG, parameters: { type: 'object', properties: { a: { type: 'string' } } } }
const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content })

test.each<[string, Parse, JsonObject]>([
  [
    'a chat with tools',
    chat,
    {
      messages: [
        { role: 'system', content: LONG },
        { role: 'user', content: LONG },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: LONG } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: LONG },
      ],
      tools: [{ type: 'function', function: { name: 'f', ...TOOL } }],
      temperature: 0.5,
    },
  ],
  [
    'messages with tools',
    messages,
    {
      max_tokens: 100,
      system: [{ type: 'text', text: LONG, cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: LONG },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: LONG } }] },
        user({ type: 'tool_result', tool_use_id: 'toolu_1', content: LONG }),
      ],
      tools: [{ name: 'f', description: LONG, input_schema: TOOL.parameters }],
    },
  ],
  [
    'items with tools',
    responses,
    {
      instructions: LONG,
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: LONG }] },
        {
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'f',
          arguments: LONG,
          status: 'completed',
        },
        { type: 'function_call_output', call_id: 'call_1', output: LONG },
      ],
      tools: [{ type: 'function', name: 'f', ...TOOL }],
    },
  ],
  [
    'an image and a file in base64',
    chat,
    {
      messages: [
        user(
          { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } },
          { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${BASE64}` } },
        ),
      ],
    },
  ],
  [
    "Anthropic's image and document in base64",
    messages,
    {
      max_tokens: 100,
      messages: [
        user(
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: BASE64 } },
        ),
      ],
    },
  ],
])('adds nothing for %s', (_what, parse, fields) => {
  const body = { model: 'm', ...fields }
  expect(countUnread(parse(body), body)).toBe(0)
})

test('counts a text that is not read as one that is', () => {
  const read = { model: 'm', messages: [{ role: 'user', content: LONG }] }
  const unread = { model: 'm', messages: [{ role: 'assistant', content: 'a', reasoning_content: LONG }] }
  const max = countMaxInput(chat(read))
  expect(countUnread(chat(unread), unread)).toBeGreaterThan(0.98 * max - 100)
  expect(countUnread(chat(unread), unread)).toBeLessThan(1.02 * max)
})

test.each(['metadata', 'labels', 'request_metadata', 'requestMetadata', 'client_metadata'])(
  'counts nothing of %s, which no provider shows to a model',
  name => {
    const request: ChatRequest = { model: 'm', stream: false, includeUsage: false, messages: [] }
    expect(countUnread(request, { model: 'm', [name]: { note: LONG } })).toBe(0)
  },
)

test('counts many short texts, long names and numbers', () => {
  const at = Array.from({ length: 2_000 }, (_, index) => index)
  const of = (field: unknown): number => {
    const body = { model: 'm', messages: [], field } as unknown as JsonObject
    return countUnread({ model: 'm', stream: false, includeUsage: false, messages: [] }, body)
  }
  expect(of(at.map(() => 'four'))).toBeGreaterThan(1_900)
  expect(of(at)).toBeGreaterThan(1_900)
  expect(of(Object.fromEntries(at.map(each => [`a name that is a text: ${each}`, null])))).toBeGreaterThan(
    12_000,
  )
})
