import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { RequestError } from '../../shared/reading/request-error.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { parseRequest } from './parse-request.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]

function parse(fields: JsonObject, isEndUser = false): ParsedChat {
  const body: JsonObject = { model: 'm', messages: MESSAGES, ...fields }
  return parseRequest(body, { source: toSourceBody('openai-chat', body), pathModel: '', isEndUser })
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

test('every field of canonical meaning is read, every other one is an extra field, and null is absent', () => {
  const tools = [{ type: 'function', function: { name: 'f' } }]
  const { request, metadata } = parse({
    stream: true,
    stream_options: { include_usage: true },
    tools,
    tool_choice: 'required',
    parallel_tool_calls: false,
    response_format: { type: 'json_object' },
    max_completion_tokens: 9,
    max_tokens: 9,
    temperature: 3,
    top_p: 0.5,
    stop: 'x',
    seed: 1,
    presence_penalty: 5,
    frequency_penalty: -5,
    reasoning_effort: 'xhigh',
    user: 'u',
    logprobs: true,
    metadata: { a: 'b' },
    somethingNew: { a: 1 },
    logit_bias: null,
  })
  expect(request).toEqual({
    model: 'm',
    messages: MESSAGES,
    stream: true,
    includeUsage: true,
    tools,
    toolChoice: 'required',
    parallelToolCalls: false,
    responseFormat: { type: 'json_object' },
    maxOutputTokens: 9,
    temperature: 3,
    topP: 0.5,
    stop: ['x'],
    seed: 1,
    presencePenalty: 5,
    frequencyPenalty: -5,
    reasoningEffort: 'xhigh',
    user: 'u',
    extra: new Map<string, unknown>([
      ['logprobs', true],
      ['metadata', { a: 'b' }],
      ['somethingNew', { a: 1 }],
    ]),
  })
  expect(metadata).toEqual({ a: 'b' })
})

test.each<[JsonObject, string]>([
  [{ model: '' }, 'model'],
  [{ messages: [] }, 'messages'],
  [{ messages: [{ role: 'user', content: 1 }] }, 'messages[0].content'],
  [
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: {} }] }] },
    'messages[0].tool_calls[0].function.name',
  ],
  [{ messages: [{ role: 'tool', content: 'x', tool_call_id: 5 }] }, 'messages[0].tool_call_id'],
  [{ stream: 1 }, 'stream'],
  [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
  [{ n: 0 }, 'n'],
  [{ n: 129 }, 'n'],
  [{ n: 1.5 }, 'n'],
  [{ max_tokens: 1, max_completion_tokens: 2 }, 'max_tokens'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ stop: ['1', 2] }, 'stop[1]'],
  [{ seed: 1.5 }, 'seed'],
  [{ tool_choice: 'some' }, 'tool_choice'],
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ tools: [{ type: 'novel_tool' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'function', function: { name: 'f' }, web_search: {} }] }, 'tools[0].web_search'],
  [{ models: ['x'] }, 'models'],
  [{ extra_body: { model: 'x' } }, 'extra_body.model'],
  [{ Max_Tokens: 5 }, 'Max_Tokens'],
])('%j is refused for %s', (fields, path) => {
  expect(refusedPath(fields)).toBe(path)
})

test('any number of stop sequences is read: some providers take more than OpenAI', () => {
  const stop = Array.from({ length: 16 }, (_, at) => `s${at}`)
  expect(parse({ stop }).request.stop).toEqual(stop)
})

describe('what an end user may not send is found', () => {
  test.each<[JsonObject, string | undefined]>([
    [{ temperature: 1, logprobs: true, store: true, n: 1 }, undefined],
    [{ somethingNew: 1, n: 2 }, 'somethingNew'],
    [{ somethingNew: null }, 'somethingNew'],
    // Older spellings are read as the current ones.
    [{ functions: [{ name: 'f' }], function_call: 'auto' }, undefined],
    [{ n: 2 }, 'n'],
  ])('%j: %s', (fields, passedOn) => {
    expect(parse(fields, true).findings.passedOn).toBe(passedOn)
    expect(parse(fields).findings.passedOn).toBeUndefined()
  })

  test('a file that the provider keeps', () => {
    const messages = [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }]
    expect(parse({ messages }, true).findings.stored).toBe('messages[0].content[0].file.file_id')
    expect(parse({ messages }).findings.stored).toBeUndefined()
  })

  test('a Responses body that came here, whose fields are unknown to chat completions', () => {
    const body: JsonObject = { model: 'm', input: 'hi', stream_options: { include_usage: true } }
    const context = { source: toSourceBody('openai-chat', body), pathModel: '', isEndUser: true }
    expect(parseRequest(body, context)).toMatchObject({
      shape: 'openai-mixed',
      request: { messages: [{ role: 'user', content: 'hi' }], includeUsage: true },
      findings: { passedOn: 'input', choices: 1 },
    })
  })
})

const FUNCTION = { name: 'f', arguments: '{}' }
test.each<[JsonObject, string]>([
  [{ type: 'function', function: FUNCTION }, 'id'],
  [{ id: null, function: FUNCTION }, 'id'],
  [{ id: 5, function: FUNCTION }, 'id'],
  [{ id: 'c', type: 5, function: FUNCTION }, 'type'],
  [{ id: 'c', type: null }, 'function'],
  [{ id: 'c', type: 'novel' }, 'function'],
  [{ id: 'c', type: 'custom', function: FUNCTION }, 'custom'],
  [{ id: 'c', type: 'custom', custom: { name: 'shell' } }, 'custom.input'],
])('the call %j is refused for its %s', (call, path) => {
  const messages = [...MESSAGES, { role: 'assistant', tool_calls: [call] }]
  expect(refusedPath({ messages })).toBe(`messages[1].tool_calls[0].${path}`)
})

test('a call may leave its type out, or have one that a provider knows for a function of its own', () => {
  for (const type of [undefined, null, 'function', 'builtin_function']) {
    const call = { id: 'c', function: FUNCTION, ...(type === undefined ? {} : { type }) }
    expect(() => parse({ messages: [{ role: 'assistant', tool_calls: [call] }] })).not.toThrow()
  }
})

test('every choice is counted', () => {
  expect(parse({}).findings).toMatchObject({ choices: 1 })
  expect(parse({ n: 3 }).findings).toMatchObject({ choices: 3 })
})

const MARK = { type: 'ephemeral' }

test.each<[string, JsonObject, boolean]>([
  ['on a message', { messages: [{ role: 'user', content: 'hi', cache_control: MARK }] }, true],
  [
    'on a part',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: MARK }] }] },
    true,
  ],
  [
    'on a call',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, cache_control: MARK },
          ],
        },
      ],
    },
    true,
  ],
  ['on a tool', { tools: [{ type: 'function', function: { name: 'f' }, cache_control: MARK }] }, true],
  ['in a function', { tools: [{ type: 'function', function: { name: 'f', cache_control: MARK } }] }, true],
  [
    'in a part of an unknown type',
    { messages: [{ role: 'user', content: [{ type: 'new', inner: [{ cache_control: MARK }] }] }] },
    true,
  ],
  ['at the top', { cache_control: MARK }, true],
  ['in an unknown field', { extra_body: [{ cache_control: MARK }] }, true],
  [
    'of null',
    { messages: [{ role: 'user', content: 'hi', cache_control: null }], cache_control: null },
    false,
  ],
  ['as text', { messages: [{ role: 'user', content: '{"cache_control":{},"cachePoint":{}}' }] }, false],
  ['as a name of the caller’s own', { metadata: { cache_control: 'x' } }, false],
])('a mark of caching %s is found where a provider may read it', (_, fields, asks) => {
  expect(parse(fields).findings.asksForCaching).toBe(asks)
})
