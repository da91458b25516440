import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { findProvider } from '../../../providers/index.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import type { Target } from '../../../upstream/target.ts'
import { openAiChat } from '../client/client.ts'
import { encodeReply } from './encode-reply.ts'
import { openChunkEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'
import { PassedStream } from './passed-stream.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const F = { name: 'f', parameters: { type: 'object' } }

/** The body that a provider gets. */
function send(fields: JsonObject, providerId = 'openai', dropped: readonly string[] = []): JsonObject {
  const provider = findProvider(providerId)
  if (provider === undefined) throw new Error(`no provider ${providerId}`)
  const target: Target = { provider, model: 'gpt-4o-mini', baseUrl: 'https://a.example/v1', apiKey: 'k' }
  const source = toSourceBody('openai-chat', { model: 'm', messages: MESSAGES, ...fields })
  const { request } = parseRequest(source.value, { source, pathModel: '', isEndUser: false })
  return JSON.parse(openAiChat.encodeRequest(request, target, source, dropped).body.toString())
}

describe('a request in another spelling', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['functions', { functions: [F] }, { tools: [{ type: 'function', function: F }] }],
    [
      'a choice of a function',
      { functions: [F], function_call: { name: 'f' } },
      {
        tools: [{ type: 'function', function: F }],
        tool_choice: { type: 'function', function: { name: 'f' } },
      },
    ],
    [
      'no function to choose',
      { functions: [F], function_call: 'none' },
      {
        tools: [{ type: 'function', function: F }],
        tool_choice: 'none',
      },
    ],
    ['no functions', { functions: [], function_call: 'auto' }, {}],
    ['an effort of reasoning', { reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }],
    ['reasoning that is off', { reasoning: { enabled: false } }, { reasoning_effort: 'none' }],
    ['nothing but whether reasoning is shown', { reasoning: { exclude: true } }, {}],
    ['two efforts', { reasoning: { effort: 'low' }, reasoning_effort: 'high' }, { reasoning_effort: 'high' }],
    [
      'any tool',
      { tools: [{ type: 'function', function: F }], tool_choice: 'any' },
      {
        tools: [{ type: 'function', function: F }],
        tool_choice: 'required',
      },
    ],
    ['a tool without a type', { tools: [{ function: F }] }, { tools: [{ type: 'function', function: F }] }],
  ])('%s', (_, fields, expected) => {
    expect(send(fields)).toEqual({ model: 'gpt-4o-mini', messages: MESSAGES, ...expected })
  })

  test('an image as a text', () => {
    const part = { type: 'image_url', image_url: 'https://a.example/x.png' }
    const text = { type: 'text', text: 'what?' }
    expect(send({ messages: [{ role: 'user', content: [text, part] }] }).messages).toEqual([
      { role: 'user', content: [text, { type: 'image_url', image_url: { url: 'https://a.example/x.png' } }] },
    ])
  })

  test('calls of functions and their results, each with the id of its call', () => {
    const call = { name: 'f', arguments: '{}' }
    const messages = [
      ...MESSAGES,
      { role: 'assistant', content: null, function_call: call },
      { role: 'function', name: 'f', content: 'ok' },
    ]
    const [, asked, answered] = send({ messages, functions: [F] }).messages as JsonObject[]
    expect(asked).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_function_1', type: 'function', function: call }],
    })
    expect(answered).toEqual({ role: 'tool', content: 'ok', tool_call_id: 'call_function_1' })
  })

  test('goes to OpenRouter with its own word for reasoning, and to Mistral with its word for any tool', () => {
    const body = send({ reasoning: { effort: 'low', exclude: true } }, 'openrouter')
    expect(body).toMatchObject({ reasoning: { effort: 'low', exclude: true } })
    expect(body).not.toHaveProperty('reasoning_effort')
    expect(send({ tools: [{ function: F }], tool_choice: 'any' }, 'mistral').tool_choice).toBe('any')
  })

  test('is left out under its current name', () => {
    expect(send({ reasoning: { effort: 'low' } }, 'openai', ['reasoning_effort'])).not.toHaveProperty(
      'reasoning_effort',
    )
  })

  test('loses tools that a provider would run, and the choice among none', () => {
    const tools = [{ type: 'web_search' }, { type: 'function', function: F }]
    expect(send({ tools, tool_choice: 'auto' }, 'openai', ['tools[0]'])).toMatchObject({
      tools: [tools[1]],
      tool_choice: 'auto',
    })
    const left = send({ tools: [tools[0] ?? {}], tool_choice: 'auto', web_search_options: {} }, 'openai', [
      'tools[0]',
      'web_search_options',
    ])
    expect(left).toEqual({ model: 'gpt-4o-mini', messages: MESSAGES })
  })
})

describe('an answer to a caller of functions', () => {
  const envelope = { id: 'c', created: 0, model: 'p/m' }
  const call = { id: 'call_1', type: 'function' as const, function: { name: 'f', arguments: '{"a":1}' } }

  test('has the call in the older field, whole', () => {
    const message = {
      role: 'assistant' as const,
      content: null,
      tool_calls: [call, { ...call, id: 'call_2' }],
    }
    const reply = { choices: [{ index: 0, message, finishReason: 'tool_calls' as const }], usage: undefined }
    expect(encodeReply(reply, envelope, true).choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null, function_call: call.function },
        logprobs: null,
        finish_reason: 'function_call',
      },
    ])
  })

  test('has it in pieces', () => {
    const encoder = openChunkEncoder(envelope, { includeUsage: false, callsFunctions: true })
    const events: StreamEvent[] = [
      { type: 'delta', index: 0, toolCalls: [{ ...call, index: 0, function: { name: 'f', arguments: '' } }] },
      { type: 'delta', index: 0, toolCalls: [{ index: 0, function: { arguments: '{}' } }] },
      { type: 'delta', index: 0, toolCalls: [{ ...call, index: 1 }] },
      { type: 'delta', index: 0, finishReason: 'tool_calls' },
    ]
    const choices = events
      .flatMap(event => encoder.encode(event))
      .map(chunk => (chunk.choices as JsonObject[])[0])
    expect(choices.map(choice => choice?.delta)).toEqual([
      { role: 'assistant', function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{}' } },
      {},
      {},
    ])
    expect(choices.at(-1)?.finish_reason).toBe('function_call')
  })
})

describe('a stream that passes through', () => {
  const answered = { includeUsage: false, provider: 'openai' } as ConstructorParameters<
    typeof PassedStream
  >[0]
  const chunk = (usage: string): string =>
    `data: {"id":"c","choices":[{"index":0,"delta":{"content":"a \\",\\"usage\\":null"}}]${usage}}\n\n`

  function pass(stream: PassedStream, text: string): string {
    const bytes = Buffer.from(text)
    stream.measurePassable(bytes)
    return stream.pass(bytes).toString()
  }

  test('has no usage of null for a caller who asked for none', () => {
    for (const usage of [',"usage":null', ', "usage": null', ''])
      expect(pass(new PassedStream(answered), chunk(usage))).toBe(chunk(''))
    const first = 'data: {"usage":null,"choices":[]}\n\n'
    expect(pass(new PassedStream(answered), first)).toBe('data: {"choices":[]}\n\n')
    expect(pass(new PassedStream(answered), chunk(',"usage":null').repeat(3))).toBe(chunk('').repeat(3))
  })

  test('stays as it is for a caller who asked for usage', () => {
    const stream = new PassedStream({ ...answered, includeUsage: true })
    expect(pass(stream, chunk(',"usage":null'))).toBe(chunk(',"usage":null'))
  })
})
