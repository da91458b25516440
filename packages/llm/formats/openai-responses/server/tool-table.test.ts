import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { encodeReply, openEventEncoder } from './encode-events.ts'
import { parseRequest } from './parse-request.ts'
import { MAX_NAMED_TOOLS } from './tool-table.ts'

const source = toSourceBody('openai-responses', {})
const parse = (fields: JsonObject) =>
  parseRequest({ model: 'm', input: 'x', ...fields }, { isEndUser: false, source })
const namesOf = (fields: JsonObject): (string | undefined)[] =>
  parse(fields).request.tools?.map(tool => tool.function.name) ?? []
const fn = (name: string, fields: JsonObject = {}): JsonObject => ({ type: 'function', name, ...fields })
const space = (name: string, ...tools: JsonObject[]): JsonObject => ({ type: 'namespace', name, tools })
const added = (...tools: JsonObject[]): JsonObject => ({ type: 'additional_tools', role: 'developer', tools })
const user = { role: 'user', content: 'hi' }
const USAGE = { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }

/** The items in which an answer calls these functions. */
function answerTo(fields: JsonObject, ...calls: [name: string, args: string][]): JsonObject[] {
  const { repeated } = parse(fields)
  if (repeated === undefined) throw new Error('nothing is repeated')
  const head = { id: 'resp_1', created: 0, model: 'p/m', ...repeated }
  const made = calls.map(([name, args], at) => ({
    id: `call_${at}`,
    type: 'function' as const,
    function: { name, arguments: args },
  }))
  const message = { role: 'assistant' as const, content: null, tool_calls: made }
  const whole = encodeReply(head, message, 'tool_calls', USAGE).output as JsonObject[]
  const encoder = openEventEncoder(head)
  const events: StreamEvent[] = made.map((call, index) => ({
    type: 'delta',
    index: 0,
    toolCalls: [{ ...call, index }],
  }))
  const written = events.flatMap(event => (event.type === 'delta' ? encoder.add(event) : []))
  written.push(...encoder.finish('tool_calls', USAGE))
  const done = written.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
  // A stream and a whole answer call the same.
  expect(done).toEqual(whole)
  return whole
}

describe('tools of a request', () => {
  test('are named after namespace and function, except those in the namespace of bare names', () => {
    const tools = [fn('a'), space('functions', fn('b')), space('', fn('c')), space('mcp__files', fn('read'))]
    expect(namesOf({ tools })).toEqual(['a', 'b', 'c', 'mcp__files__read'])
  })

  test('have the description of their namespace before their own', () => {
    const described = { ...space('s', fn('a', { description: 'Own.' }), fn('b')), description: 'All.' }
    const tools = parse({ tools: [described] }).request.tools
    expect(tools?.map(tool => tool.function.description)).toEqual(['All.\n\nOwn.', 'All.'])
  })

  test('are merged with those that items bring, later ones replacing earlier ones', () => {
    const tools = [fn('a', { description: 'old' }), fn('b')]
    const input = [
      added(fn('a', { description: 'new' }), space('s', fn('c'))),
      user,
      added(space('s', fn('c'))),
    ]
    expect(namesOf({ tools, input })).toEqual(['a', 'b', 's__c'])
    expect(parse({ tools, input }).request.tools?.[0]?.function.description).toBe('new')
    expect(parse({ tools, input }).request.messages).toEqual([user])
  })

  test('include those that the caller found by a search, from then on', () => {
    const search = {
      type: 'tool_search',
      execution: 'client',
      description: 'd',
      parameters: { type: 'object' },
    }
    const call = { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'q' } }
    const found = {
      type: 'tool_search_output',
      call_id: 'c1',
      status: 'completed',
      tools: [space('s', fn('c'))],
    }
    const { request } = parse({ tools: [search], input: [user, call, found] })
    expect(request.tools?.map(tool => tool.function.name)).toEqual(['tool_search', 's__c'])
    expect(request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'tool_search', arguments: '{"query":"q"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"status":"completed","tools":[{"name":"s"}]}' },
    ])
  })

  test('never share a name, and no name is longer or stranger than providers take', () => {
    const long = 'n'.repeat(60)
    const tools = [
      fn('s__a'),
      space('s', fn('a')),
      space('s_', fn('_a')),
      space('ä b', fn('c')),
      space(long, fn(long)),
    ]
    const names = namesOf({ tools })
    expect(names[0]).toBe('s__a')
    expect(new Set(names).size).toBe(5)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    // The same tools have the same names in the next request.
    expect(namesOf({ tools })).toEqual(names)
  })

  test('repeat no more of a namespace’s description than a bound', () => {
    const about = 'd'.repeat(100 * 1024)
    const inner = Array.from({ length: 1000 }, (_, at) => fn(`f${at}`))
    const tools = parse({ tools: [{ ...space('s', ...inner), description: about }] }).request.tools
    expect(tools).toHaveLength(1000)
    expect(JSON.stringify(tools).length).toBeLessThan(400 * 1024)
    expect(() => parse({ tools: [space('n'.repeat(257), fn('a'))] })).toThrow('at most 256 characters')
  })
})

describe('a choice', () => {
  test.each<[Json, unknown]>([
    [
      { type: 'function', name: 'a', namespace: 's' },
      { type: 'function', function: { name: 's__a' } },
    ],
    [
      { type: 'function', name: 'b' },
      { type: 'function', function: { name: 'b' } },
    ],
    [{ type: 'namespace', name: 's' }, 'auto'],
  ])('%j is %j', (choice, expected) => {
    const { request, findings } = parse({ tools: [fn('b'), space('s', fn('a'))], tool_choice: choice })
    expect([request.toolChoice, findings.nativeOnly]).toEqual([expected, []])
  })
})

describe('calls', () => {
  const tools = [
    fn('plain'),
    space('functions', { type: 'custom', name: 'exec' }, fn('wait')),
    space('collaboration', fn('spawn'), { type: 'custom', name: 'note' }),
    { type: 'tool_search', execution: 'client' },
  ]

  test('lead back to the pair of namespace and name, plain and streamed', () => {
    const items = answerTo(
      { tools },
      ['plain', '{}'],
      ['wait', '{}'],
      ['collaboration__spawn', '{"a":1}'],
      ['exec', '{"input":"run"}'],
      ['collaboration__note', '{"input":"n"}'],
      ['tool_search', '{"query":"q"}'],
    )
    expect(items).toMatchObject([
      { type: 'function_call', name: 'plain', arguments: '{}' },
      { type: 'function_call', name: 'wait', namespace: 'functions' },
      { type: 'function_call', name: 'spawn', namespace: 'collaboration', arguments: '{"a":1}' },
      { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'run' },
      { type: 'custom_tool_call', name: 'note', namespace: 'collaboration', input: 'n' },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'q' } },
    ])
    expect(items[0]).not.toHaveProperty('namespace')
    expect(items[3]?.id).toMatch(/^ctc_/)
  })

  test('come back under the functions’ names, also of tools that are no longer there', () => {
    const input = [
      user,
      { type: 'function_call', call_id: '1', name: 'spawn', namespace: 'collaboration', arguments: '{}' },
      { type: 'function_call_output', call_id: '1', output: 'ok' },
      { type: 'custom_tool_call', call_id: '2', name: 'exec', namespace: 'functions', input: 'x' },
      { type: 'custom_tool_call_output', call_id: '2', output: 'ok' },
      { type: 'function_call', call_id: '3', name: 'old', namespace: 'gone', arguments: '{}' },
      { type: 'function_call_output', call_id: '3', output: 'ok' },
    ]
    const calls = parse({ tools, input }).request.messages.flatMap(message => message.tool_calls ?? [])
    expect(calls.map(call => call.function.name)).toEqual(['collaboration__spawn', 'exec', 'gone__old'])
  })
})

test('a request whose tools get names of their own has at most 2,048 of them', () => {
  const many = (count: number): JsonObject[] => Array.from({ length: count }, (_, at) => fn(`t${at}`))
  expect(parse({ tools: [space('n', ...many(MAX_NAMED_TOOLS))] }).request.tools).toHaveLength(MAX_NAMED_TOOLS)
  const refused = { code: 'invalid_request', param: 'tools' }
  const tooMany: JsonObject[] = [
    { tools: [space('n', ...many(MAX_NAMED_TOOLS + 1))] },
    { tools: [space('a', ...many(1_500)), space('b', ...many(1_500))] },
    { input: [added(...many(MAX_NAMED_TOOLS + 1)), user] },
  ]
  for (const fields of tooMany) expect(() => parse(fields)).toThrow(expect.objectContaining(refused))
  // Plain functions keep their names, and the provider judges them.
  expect(parse({ tools: many(MAX_NAMED_TOOLS + 1) }).request.tools).toHaveLength(MAX_NAMED_TOOLS + 1)
})
