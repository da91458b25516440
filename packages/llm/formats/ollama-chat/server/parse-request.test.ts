import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { RequestError } from '../../shared/reading/request-error.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { parseRequest } from './parse-request.ts'

function parse(fields: JsonObject, isEndUser = false): ParsedChat {
  const body: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields }
  return parseRequest(body, { source: toSourceBody('ollama-chat', body), pathModel: '', isEndUser })
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

test.each<[JsonObject, string]>([
  [{ model: '' }, 'model'],
  [{ messages: [] }, 'messages'],
  [{ messages: [{ role: 'developer', content: 'x' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'user', images: ['https://x.example/a.png'] }] }, 'messages[0].images[0]'],
  [
    { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }] },
    'messages[0].tool_calls[0].function.arguments',
  ],
  [{ stream: 'yes' }, 'stream'],
  [{ truncate: 1 }, 'truncate'],
  [{ logprobs: 1 }, 'logprobs'],
  [{ top_logprobs: 'x' }, 'top_logprobs'],
  [{ think: 1 }, 'think'],
  [{ format: 'xml' }, 'format'],
  [{ options: [] }, 'options'],
  [{ options: { num_predict: 1.5 } }, 'options.num_predict'],
  [{ options: { seed: 1.5 } }, 'options.seed'],
  [{ options: { temperature: '1' } }, 'options.temperature'],
  [{ options: { stop: ['x', 1] } }, 'options.stop[1]'],
  [{ options: { Model: 'x' } }, 'options.Model'],
  [{ n: 2 }, 'n'],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ tools: [{ function: { name: 'f' }, web_search: {} }] }, 'tools[0].web_search'],
  [{ tools: [{ function: {} }] }, 'tools[0].function.name'],
])('%j is refused for %s', (fields, path) => {
  expect(refusedPath(fields)).toBe(path)
})

test('options with more fields than any model has are refused before their names are read', () => {
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1]))
  expect(refusedPath({ options: named(1_025) })).toBe('options')
  expect(parse({ options: named(1_024) }).findings.unknownFields).toHaveLength(1_024)
})

describe('findings', () => {
  test('what only this format knows is for its targets alone, where it asks for something', () => {
    const asks = { options: { top_k: 3, mirostat: 1, num_gpu: 1 }, logprobs: true, top_logprobs: 2 }
    expect(parse(asks).findings).toMatchObject({
      nativeOnly: ['options.top_k', 'options.mirostat', 'logprobs', 'top_logprobs'],
      unknownFields: [],
    })
    const asksNothing = {
      options: { top_k: 0, repeat_penalty: 1, penalize_newline: false, num_ctx: 9, min_p: null },
      logprobs: false,
      top_logprobs: 0,
      keep_alive: '5m',
      truncate: true,
    }
    expect(parse(asksNothing).findings).toMatchObject({ nativeOnly: [], unknownFields: [] })
  })

  test('an unknown field goes to no provider', () => {
    const messages = [{ role: 'user', content: 'x', mood: 1, name: null }]
    const { request, findings } = parse({ messages, fresh: 1, options: { other: 1 }, empty: null })
    expect(findings).toMatchObject({
      nativeOnly: [],
      unknownFields: ['options.other', 'fresh', 'messages[0].mood'],
    })
    expect(request.ownFields).toBeUndefined()
    expect(request.messages).toEqual([{ role: 'user', content: 'x' }])
  })

  test.each<[JsonObject, string | undefined]>([
    [{ format: 'json', think: true, stream: false, tools: [], options: { top_k: 3, stop: 'x' } }, undefined],
    [{ keep_alive: null, logprobs: null, options: { num_ctx: null } }, undefined],
    [{ keep_alive: '5m' }, 'keep_alive'],
    [{ fresh: null }, 'fresh'],
    [{ options: { fresh: null } }, 'options.fresh'],
    [{ truncate: true }, 'truncate'],
    [{ shift: true }, 'shift'],
    [{ logprobs: false }, 'logprobs'],
    [{ top_logprobs: 0 }, 'top_logprobs'],
    [{ fresh: 1 }, 'fresh'],
    [{ options: { num_ctx: 1 } }, 'options.num_ctx'],
    [{ options: { fresh: 1 } }, 'options.fresh'],
  ])('contain for %j of an end user the field %s, which only a key may send', (fields, passedOn) => {
    expect(parse(fields, true).findings.passedOn).toBe(passedOn)
    expect(parse(fields).findings.passedOn).toBeUndefined()
  })
})

test('a target of this format gets the fields that have no canonical meaning, and thinking in its own words', () => {
  const own = {
    think: 'max',
    keep_alive: '5m',
    shift: false,
    options: { top_k: 0, num_gpu: 1 },
  }
  const { request } = parse({ ...own, format: 'json', options: { ...own.options, num_predict: 9, seed: 1 } })
  expect(request).toMatchObject({ ownFields: own, reasoningEffort: 'max', maxOutputTokens: 9, seed: 1 })
  expect(request.ownFields).toEqual(own)
})

test('errors and headers name a parameter as the format spells it', () => {
  const { spellings } = parse({})
  expect(spellings?.get('temperature')).toBe('options.temperature')
  expect(spellings?.get('response_format')).toBe('format')
  expect(spellings?.get('reasoning_effort')).toBe('think')
})

describe('the result of a tool answers', () => {
  const call = (id: string, name: string): JsonObject => ({ id, function: { name, arguments: {} } })
  const ids = (...results: JsonObject[]): unknown[] => {
    const calls = [call('a', 'f'), call('b', 'g'), call('c', 'f')]
    const messages = [
      { role: 'assistant', content: '', tool_calls: calls },
      ...results.map(result => ({ role: 'tool', content: 'x', ...result })),
    ]
    const parsed = parse({ messages }).request.messages
    return parsed.slice(1).map(message => message.tool_call_id)
  }

  test.each<[string, JsonObject[], string[]]>([
    [
      'the call that it names',
      [{ tool_call_id: 'c' }, { tool_call_id: 'a' }, { tool_call_id: 'b' }],
      ['c', 'a', 'b'],
    ],
    ['the next call of its tool', [{ tool_name: 'f' }, { name: 'f' }, { tool_name: 'g' }], ['a', 'c', 'b']],
    ['the next call, if it names none', [{}, {}, {}], ['a', 'b', 'c']],
    [
      'the next call, if it names an unknown one',
      [{ tool_call_id: 'x' }, { tool_name: 'y' }, {}],
      ['a', 'b', 'c'],
    ],
    ['no call twice', [{ tool_call_id: 'a' }, { tool_call_id: 'a' }, {}, {}], ['a', 'b', 'c', '']],
    [
      'its own id, if no call is left',
      [{}, {}, {}, { tool_call_id: 'x' }, { tool_name: 'y' }],
      ['a', 'b', 'c', 'x', 'y'],
    ],
  ])('%s', (_, results, answered) => {
    expect(ids(...results)).toEqual(answered)
  })
})
