import { expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { RequestError } from '../../shared/reading/request-error.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { parseRequest } from './parse-request.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]

function parse(fields: JsonObject, isEndUser = false): ParsedChat {
  const body: JsonObject = { model: 'm', messages: MESSAGES, ...fields }
  return parseRequest(body, { source: toSourceBody('native', body), pathModel: '', isEndUser })
}

/** The path of the field that a body is refused for. */
function refusedPath(fields: JsonObject): string | undefined {
  try {
    parse(fields)
  } catch (error) {
    if (error instanceof RequestError) return error.param
    throw error
  }
  throw new Error('not refused')
}

test('every field is read: those of the gateway stand beside the request, and null is absent', () => {
  const parsed = parse({
    max_output_tokens: 9,
    temperature: 2,
    top_p: 1,
    presence_penalty: -2,
    frequency_penalty: 2,
    reasoning_effort: 'minimal',
    n: 1,
    user: 'u',
    metadata: { a: 'b' },
    end_user: 'e',
    timeout_ms: 1000,
    provider_options: { groq: { x: 1 }, openai: null },
    stop: null,
    tools: null,
  })
  expect(parsed).toMatchObject({ metadata: { a: 'b' }, timeoutMs: 1000 })
  expect(parsed.request).toEqual({
    model: 'm',
    messages: MESSAGES,
    stream: false,
    includeUsage: true,
    maxOutputTokens: 9,
    temperature: 2,
    topP: 1,
    presencePenalty: -2,
    frequencyPenalty: 2,
    reasoningEffort: 'minimal',
    user: 'u',
    providerOptions: { groq: { x: 1 } },
  })
})

test.each<[JsonObject, string]>([
  [{ somethingNew: null }, 'somethingNew'],
  [{ store: true }, 'store'],
  [{ service_tier: 'auto' }, 'service_tier'],
  [{ logprobs: true }, 'logprobs'],
  [{ n: 2 }, 'n'],
  [{ stop: ['1', '2', '3', '4', '5'] }, 'stop'],
  [{ temperature: 2.1 }, 'temperature'],
  [{ top_p: -0.1 }, 'top_p'],
  [{ presence_penalty: 3 }, 'presence_penalty'],
  [{ frequency_penalty: -3 }, 'frequency_penalty'],
  [{ reasoning_effort: 'xhigh' }, 'reasoning_effort'],
  [{ response_format: { type: 'grammar' } }, 'response_format.type'],
  [{ tool_choice: { type: 'allowed_tools' } }, 'tool_choice'],
  [{ tools: [{ type: 'novel_tool' }] }, 'tools[0].type'],
  [{ messages: [{ role: 'nobody', content: 'x' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'user', content: 'x', file_id: 'f' }] }, 'messages[0].file_id'],
  [{ messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type'],
  [{ timeout_ms: 999 }, 'timeout_ms'],
  [{ metadata: { a: 1 } }, 'metadata.a'],
  [{ provider_options: { groq: 1 } }, 'provider_options.groq'],
  [{ provider_options: { groq: { model: 'x' } } }, 'provider_options.groq.model'],
  [{ provider_options: { groq: { a: { max_tokens: 1 } } } }, 'provider_options.groq.a.max_tokens'],
])('%j is refused for %s', (fields, path) => {
  expect(refusedPath(fields)).toBe(path)
})

const PDF = 'data:application/pdf;base64,JVBERi0='
const CALL = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const SCHEMA = { name: 'n', schema: {} }

test.each<[JsonObject, string]>([
  [{ type: 'text', text: 'x', x: 1 }, 'x'],
  [{ type: 'text', text: 'x', image_url: { url: 'https://a.example/b.png' } }, 'image_url'],
  [{ type: 'image_url', image_url: { url: 'https://a.example/b.png', x: 1 } }, 'image_url.x'],
  [{ type: 'image_url', image_url: { url: 'http://a.example/b.png' } }, 'image_url.url'],
  [{ type: 'file', file: {} }, 'file.file_data'],
  [{ type: 'file', file: { file_data: 'https://x' } }, 'file.file_data'],
  [{ type: 'file', file: { file_id: 'f' } }, 'file.file_id'],
  [{ type: 'file', file: { file_data: PDF, filename: 5 } }, 'file.filename'],
  [{ type: 'input_audio', input_audio: {} }, 'input_audio.data'],
  [{ type: 'input_audio', input_audio: { data: 'x' } }, 'input_audio.format'],
  [{ type: 'refusal' }, 'refusal'],
])('the part %j is refused for its %s', (part, path) => {
  expect(refusedPath({ messages: [{ role: 'user', content: [part] }] })).toBe(
    `messages[0].content[0].${path}`,
  )
})

test.each<[JsonObject, string]>([
  [{ reasoning: 5 }, 'reasoning'],
  [{ reasoning_content: {} }, 'reasoning_content'],
  [{ reasoning_details: 'x' }, 'reasoning_details'],
  [{ reasoning_details: [5] }, 'reasoning_details[0]'],
  [{ refusal: 5 }, 'refusal'],
  [{ tool_calls: [{ ...CALL, x: 1 }] }, 'tool_calls[0].x'],
  [{ tool_calls: [{ ...CALL, type: 'custom' }] }, 'tool_calls[0].type'],
  [{ tool_calls: [{ ...CALL, function: { ...CALL.function, x: 1 } }] }, 'tool_calls[0].function.x'],
])('a message with %j is refused for its %s', (fields, path) => {
  expect(refusedPath({ messages: [{ role: 'assistant', content: 'x', ...fields }] })).toBe(
    `messages[0].${path}`,
  )
})

test.each<[JsonObject, string]>([
  [{ tools: [{ type: 'function', function: { name: 'f', x: 1 } }] }, 'tools[0].function.x'],
  [{ tool_choice: { type: 'function', function: { name: 'f' }, x: 1 } }, 'tool_choice.x'],
  [{ tool_choice: { type: 'function', function: { name: 'f', x: 1 } } }, 'tool_choice.function.x'],
  [{ response_format: { type: 'text', x: 1 } }, 'response_format.x'],
  [{ response_format: { type: 'json_schema', json_schema: SCHEMA, x: 1 } }, 'response_format.x'],
  [
    { response_format: { type: 'json_schema', json_schema: { ...SCHEMA, x: 1 } } },
    'response_format.json_schema.x',
  ],
  [{ stream_options: { include_usage: true, x: 1 } }, 'stream_options.x'],
])('%j is refused for %s, which is not a field', (fields, path) => {
  expect(refusedPath(fields)).toBe(path)
})

test('a message of an answer is accepted back, with all that it has', () => {
  const answered = {
    role: 'assistant',
    content: null,
    refusal: null,
    reasoning: 'Hm.',
    reasoning_details: [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'Hm.', via: 'direct' },
    ],
    // A client joins the pieces of a streamed call, which have an index.
    tool_calls: [{ ...CALL, index: 0 }],
  }
  const messages = [...MESSAGES, answered, { role: 'tool', tool_call_id: 'c', content: 'x' }]
  expect(parse({ messages }).request.messages).toEqual(messages)
})

test('an end user may not send options for a provider, nor have an answer stored by them', () => {
  const stores = { provider_options: { openai: { store: true } } }
  expect(parse(stores, true).findings).toMatchObject({
    passedOn: 'provider_options',
    stored: 'provider_options.openai.store',
  })
  expect(parse(stores).findings).toMatchObject({ passedOn: undefined, stored: undefined })
  expect(parse({ temperature: 1 }, true).findings).toMatchObject({ passedOn: undefined, stored: undefined })
  expect(parse({ provider_options: null }, true).findings.passedOn).toBeUndefined()
})

test('a mark of caching is found on a part, on a tool and in provider_options, not in text', () => {
  const mark = { type: 'ephemeral' }
  const part = { type: 'text', text: 'a', cache_control: mark }
  const asks = (fields: JsonObject): boolean => parse(fields).findings.asksForCaching
  expect(asks({ messages: [{ role: 'user', content: [part] }] })).toBe(true)
  expect(asks({ tools: [{ type: 'function', function: { name: 'f' }, cache_control: mark }] })).toBe(true)
  expect(asks({ provider_options: { anthropic: { x: [{ cache_control: mark }] } } })).toBe(true)
  expect(asks({ provider_options: { bedrock: { x: { cachePoint: {} } } } })).toBe(true)
  expect(asks({ messages: [{ role: 'user', content: 'cache_control cachePoint' }] })).toBe(false)
})

test('options with more fields than any provider has are refused before their names are read', () => {
  const named = (count: number, value: JsonObject | number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, value]))
  expect(refusedPath({ provider_options: named(1_025, {}) })).toBe('provider_options')
  expect(refusedPath({ provider_options: { openai: named(1_025, 1) } })).toBe('provider_options.openai')
  expect(parse({ provider_options: { openai: named(1_024, 1) } }).request.providerOptions).toBeDefined()
})
