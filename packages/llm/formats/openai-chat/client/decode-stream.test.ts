import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { custom } from '../../../providers/custom.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Target } from '../../../upstream/target.ts'
import { openStream } from './decode-stream.ts'

const target: Target = { provider: custom, model: 'm', baseUrl: 'https://x/v1', apiKey: '' }

function decode(...frames: (JsonObject | string)[]): StreamEvent[] {
  const decoder = openStream(target)
  return frames.flatMap(frame => decoder.decode(typeof frame === 'string' ? frame : JSON.stringify(frame)))
}

const chunk = (delta: JsonObject, rest: JsonObject = {}): JsonObject => ({
  id: 'c1',
  choices: [{ index: 0, delta, ...rest }],
})
const tool = (call: JsonObject): JsonObject => chunk({ tool_calls: [call] })

describe('openStream', () => {
  test('a role that every chunk repeats gives one event, and empty chunks give none', () => {
    expect(
      decode(
        chunk({ role: 'assistant', content: '' }),
        chunk({ role: 'assistant', content: 'a' }),
        chunk({}),
        chunk({ content: null }),
      ),
    ).toEqual([
      { type: 'delta', index: 0, role: 'assistant' },
      { type: 'delta', index: 0, content: 'a' },
    ])
  })

  test('a first chunk without choices gives no event', () => {
    expect(decode({ id: '', object: '', choices: [] }, { choices: null }, {})).toEqual([])
  })

  test.each([
    ['reasoning_content', { reasoning_content: 'r' }],
    ['reasoning', { reasoning: 'r', reasoning_details: [{ type: 'reasoning.text', text: 'r' }] }],
    ['reasoning_details', { reasoning_details: [{ type: 'reasoning.summary', summary: 'r' }] }],
    ['thinking parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'r' }] }] }],
  ])('reasoning as %s', (_, delta) => {
    expect(decode(chunk(delta as JsonObject))).toEqual([{ type: 'delta', index: 0, reasoning: 'r' }])
  })

  test('content parts are separated into text and reasoning', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'r' }] },
      { type: 'text', text: 'a' },
    ]
    expect(decode(chunk({ content }))).toEqual([{ type: 'delta', index: 0, content: 'a', reasoning: 'r' }])
  })

  test('id, type and name of a call are in its first piece only', () => {
    expect(
      decode(
        tool({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        tool({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x"' } }),
        tool({ index: 0, id: '', function: { name: null, arguments: ':1}' } }),
      ).map(event => (event.type === 'delta' ? event.toolCalls : event)),
    ).toEqual([
      [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
      [{ index: 0, function: { arguments: '{"x"' } }],
      [{ index: 0, function: { arguments: ':1}' } }],
    ])
  })

  test.each<[string, JsonObject[]]>([
    [
      'without index',
      [
        { id: 'a', function: { name: 'f', arguments: '1' } },
        { id: 'b', function: { name: 'g', arguments: '2' } },
      ],
    ],
    [
      'all with index 0',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '1' } },
        { index: 0, id: 'b', function: { name: 'g', arguments: '2' } },
      ],
    ],
    [
      'with indexes that leave gaps',
      [
        { index: 1, id: 'a', function: { name: 'f', arguments: '1' } },
        { index: 4, id: 'b', function: { name: 'g', arguments: '2' } },
      ],
    ],
    [
      'without index and id',
      [{ function: { name: 'f', arguments: '1' } }, { function: { name: 'g', arguments: '2' } }],
    ],
  ])('two complete calls %s are numbered from 0, each with an id', (_, calls) => {
    const seen = decode(...calls.map(tool)).flatMap(event =>
      event.type === 'delta' ? (event.toolCalls ?? []) : [],
    )
    expect(seen.map(({ index, function: fn }) => [index, fn?.name, fn?.arguments])).toEqual([
      [0, 'f', '1'],
      [1, 'g', '2'],
    ])
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2)
    expect(seen.every(({ id }) => id !== undefined && id !== '')).toBe(true)
  })

  test('arguments may be an object or null', () => {
    const seen = decode(
      tool({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }),
      tool({ index: 0, function: { arguments: null } }),
    )
    expect(seen).toMatchObject([
      { toolCalls: [{ function: { arguments: '{"x":1}' } }] },
      { toolCalls: [{ function: { arguments: '' } }] },
    ])
  })

  test('function_call is a tool call', () => {
    const seen = decode(
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{}' } }),
      chunk({}, { finish_reason: 'function_call' }),
    )
    expect(seen).toMatchObject([
      { toolCalls: [{ index: 0, function: { name: 'f' } }] },
      { toolCalls: [{ index: 0, function: { arguments: '{}' } }] },
      { finishReason: 'tool_calls' },
    ])
  })

  test.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['anything new', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'stop'],
  ])('finish_reason %s without tool calls is %s', (wire, expected) => {
    expect(decode(chunk({}, { finish_reason: wire }))).toEqual([
      { type: 'delta', index: 0, finishReason: expected },
    ])
  })

  test('stop after tool calls is tool_calls', () => {
    const seen = decode(
      tool({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
      chunk({}, { finish_reason: 'stop' }),
    )
    expect(seen.at(-1)).toMatchObject({ finishReason: 'tool_calls' })
  })

  test('usage is read from the last chunk with choices, and from a chunk of its own', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    expect(decode({ ...chunk({}, { finish_reason: 'stop' }), usage }).map(event => event.type)).toEqual([
      'delta',
      'usage',
    ])
    expect(decode({ choices: [], usage }).map(event => event.type)).toEqual(['usage'])
    expect(decode({ choices: [], usage: null }, '[DONE]')).toEqual([{ type: 'end' }])
  })

  test('an error is found in an event of its own, in a chunk beside usage, in a choice, and by the event’s name', () => {
    const overloaded = { message: 'Overloaded', type: 'overloaded_error' }
    expect(decode({ error: overloaded })).toMatchObject([{ type: 'error', error: { kind: 'overloaded' } }])
    expect(
      decode({
        ...chunk({}),
        error: { code: 429, message: 'x' },
        usage: { prompt_tokens: 1, completion_tokens: 2 },
      }),
    ).toMatchObject([{ type: 'usage' }, { type: 'error', error: { kind: 'rate_limited', status: 429 } }])
    expect(decode(chunk({}, { finish_reason: 'error', error: { code: 502, message: 'x' } }))).toMatchObject([
      { type: 'error', error: { kind: 'unavailable' }, index: 0 },
    ])
    expect(
      openStream(target).decode('{"message":"rate limit","code":"rate_limit_exceeded"}', 'error'),
    ).toMatchObject([{ type: 'error', error: { kind: 'rate_limited' } }])
  })

  test('a choice that ends with an error keeps the text of its chunk, and has no finish reason', () => {
    expect(
      decode(chunk({ content: 'half' }, { finish_reason: 'error', error: { code: 502, message: 'x' } })),
    ).toMatchObject([
      { type: 'delta', index: 0, content: 'half' },
      { type: 'error', error: { kind: 'unavailable' }, index: 0 },
    ])
    expect(decode(chunk({ content: 'half' }, { finish_reason: 'error' }))[0]).not.toHaveProperty(
      'finishReason',
    )
  })

  test('data that is not a JSON object interrupts the stream', () => {
    for (const data of ['{"choices":[{"del', '[]', '1', 'null', '']) {
      expect(decode(data)).toMatchObject([{ type: 'error', error: { kind: 'interrupted' } }])
    }
  })

  test('each of several choices has its own state', () => {
    const both = (delta: JsonObject): JsonObject => ({
      choices: [
        { index: 0, delta },
        { index: 1, delta },
      ],
    })
    const seen = decode(
      both({ role: 'assistant' }),
      both({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] }),
    )
    expect(
      seen.map(event => event.type === 'delta' && [event.index, event.role, event.toolCalls?.[0]?.index]),
    ).toEqual([
      [0, 'assistant', undefined],
      [1, 'assistant', undefined],
      [0, undefined, 0],
      [1, undefined, 0],
    ])
  })

  test('fields of wrong types throw nothing', () => {
    const odd = [
      null,
      1,
      'x',
      [],
      {},
      [null],
      [{ index: 'a', delta: 5 }],
      [{ delta: { tool_calls: [null, {}, { function: 7 }], content: 9, role: 3 } }],
    ]
    for (const choices of odd) expect(() => decode({ choices } as JsonObject)).not.toThrow()
  })
})

test('a call begins with its name, however late, and is left out without one', () => {
  const decoder = openStream(target)
  const calls = (list: unknown[]) =>
    decoder.decode(JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { tool_calls: list } }] }))
  expect(calls([{ index: 0, id: 'call_1', function: { arguments: '{"a"' } }])).toEqual([])
  expect(calls([{ index: 1, id: 'call_2', function: { arguments: '{}' } }])).toEqual([])
  expect(calls([{ index: 0, function: { name: 'f', arguments: ':1}' } }])).toEqual([
    {
      type: 'delta',
      index: 0,
      toolCalls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
      ],
    },
  ])
})
