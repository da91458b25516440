import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { ReasoningDetail } from '../../../reply/reasoning-detail.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import type { ParsedChat } from '../../shared/requests/parsed-chat.ts'
import { packReasoning } from '../wire/carried-reasoning.ts'
import { parseRequest } from './parse-request.ts'

const BODY = { model: 'm', input: 'hi' }
const DETAIL: ReasoningDetail = { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'x' }
const SEARCH = { type: 'web_search' }

const parse = (fields: JsonObject, isEndUser = false): ParsedChat => {
  const body = { ...BODY, ...fields }
  return parseRequest(body, { isEndUser, source: toSourceBody('openai-responses', body) })
}
const find = (fields: JsonObject, isEndUser = false) => parse(fields, isEndUser).findings
const findInItem = (...items: JsonObject[]) => find({ input: items })

test('reads every field that stands for a canonical one', () => {
  const fields = {
    instructions: 'Be brief',
    stream: true,
    max_output_tokens: 5,
    temperature: 0.5,
    top_p: 0.25,
    user: 'u',
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true } },
    tools: [{ type: 'function', name: 'f' }],
    tool_choice: 'required',
  }
  expect(parse(fields).request).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'hi' },
    ],
    stream: true,
    includeUsage: true,
    maxOutputTokens: 5,
    receivedOutputCap: 5,
    temperature: 0.5,
    topP: 0.25,
    user: 'u',
    parallelToolCalls: false,
    reasoningEffort: 'low',
    responseFormat: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
    tools: [{ type: 'function', function: { name: 'f' } }],
    toolChoice: 'required',
  })
})

test('takes null for an absent field', () => {
  const names = ['instructions', 'stream', 'tools', 'tool_choice', 'text', 'reasoning', 'max_output_tokens']
  const others = ['temperature', 'user', 'store', 'include', 'previous_response_id', 'prompt', 'other']
  const { request, findings } = parse(Object.fromEntries([...names, ...others].map(name => [name, null])))
  expect(request).toEqual(parse({}).request)
  expect(findings).toEqual(find({}))
})

test.each<[JsonObject, string]>([
  [{ model: '' }, 'model'],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ top_p: '1' }, 'top_p'],
  [{ store: 1 }, 'store'],
  [{ top_logprobs: 'x' }, 'top_logprobs'],
  [{ reasoning: [] }, 'reasoning'],
  [{ reasoning: { effort: 1 } }, 'reasoning.effort'],
  [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  [{ service_tier: 'flex' }, 'service_tier'],
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ background: true }, 'background'],
  [{ prompt: { id: 'p' } }, 'prompt'],
  [{ models: ['x'] }, 'models'],
  [{ reasoning: { mode: 'pro' } }, 'reasoning.mode'],
  [{ extra_body: { model: 'x' } }, 'extra_body.model'],
  [{ Input: 'x' }, 'Input'],
])('refuses %j', (fields, param) => {
  expect(() => parse(fields)).toThrow(expect.objectContaining({ param }))
})

describe('finds', () => {
  test('fields that only this format has, which are extra fields of the request', () => {
    const fields = { store: true, truncation: 'auto', top_logprobs: 2, other: 1 }
    expect(find(fields).nativeOnly).toEqual(Object.keys(fields))
    expect(parse(fields).request.extra).toEqual(new Map(Object.entries(fields)))
    const logprobs = { include: ['message.output_text.logprobs'] }
    expect(find(logprobs).nativeOnly).toEqual(['include'])
    expect(find({ reasoning: { context: 'all' }, text: { verbosity: 'low' } }).nativeOnly).toEqual([
      'reasoning.context',
      'text.verbosity',
    ])
  })

  test('no field with a value that asks for nothing', () => {
    const { request, findings } = parse({
      store: false,
      truncation: 'disabled',
      top_logprobs: 0,
      include: ['reasoning.encrypted_content'],
      reasoning: { mode: 'standard', context: 'auto' },
      text: { verbosity: 'medium' },
    })
    expect(findings.nativeOnly).toEqual([])
    expect(request.extra).toBeUndefined()
  })

  test('a file by its address, which other formats have and whose length is unknown', () => {
    const part = { type: 'input_file', filename: 'a.pdf', file_url: 'https://a.example/a.pdf' }
    const { request, findings } = parse({ input: [{ role: 'user', content: [part] }] })
    const file = { filename: 'a.pdf', file_url: 'https://a.example/a.pdf' }
    expect(request.messages).toEqual([{ role: 'user', content: [{ type: 'file', file }] }])
    expect(findings.nativeOnly).toEqual([])
    expect(findings.unmeasured).toEqual(['input[0].content[0].file_url'])
  })

  test('what refers to state at the provider', () => {
    const part = { type: 'input_file', file_id: 'file_1' }
    const found = find({
      previous_response_id: 'r',
      conversation: 'c',
      input: [
        { type: 'item_reference', id: 'i' },
        { role: 'user', content: [part] },
      ],
    })
    expect(found.storedStatePaths).toEqual([
      'input[0]',
      'input[1].content[0].file_id',
      'previous_response_id',
      'conversation',
    ])
  })

  test.each([
    [[{ type: 'namespace', name: 'a', tools: [SEARCH] }], 'tools[0]'],
    [[{ type: 'namespace', name: 'a', tools: [{ type: 'mcp', server_url: 'x' }] }], 'tools[0]'],
    [[{ type: 'function', name: 'f', web_search: {} }], 'tools[0]'],
    [[{ type: 'mcp', server_url: 'https://a.example' }], 'tools[0]'],
    [[{ type: 'file_search', vector_store_ids: ['vs_1'] }], 'tools[0]'],
    [[{ type: 'code_interpreter', container: 'cntr_1' }], 'tools[0]'],
    [[{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['f'] } }], 'tools[0]'],
    [[{ type: 'novel_tool' }], 'tools[0]'],
  ])('a tool that reaches another address or what the account keeps, or is unknown: %j', (tools, path) => {
    expect(find({ tools }).hosted).toEqual([path])
  })

  test('tools that the provider runs in items of any kind, at any depth', () => {
    expect(findInItem({ role: 'user', content: 'x', tools: [SEARCH] }).hosted).toEqual(['input[0].tools[0]'])
    expect(findInItem({ type: 'new', a: { Tools: SEARCH } }).hosted).toEqual(['input[0].a.Tools[0]'])
    expect(findInItem({ type: 'new', a: [[{ tools: [SEARCH] }]] }).hosted).toEqual(['input[0].a.tools[0]'])
  })

  test('names one tool of an item of an unknown kind, whatever the length of its names and of its lists', () => {
    let a: Json = { tools: Array.from({ length: 50_000 }, () => 0), b: { tools: [0] } }
    for (let depth = 0; depth < 50; depth++) a = { ['n'.repeat(16_000)]: a }
    const { hosted } = findInItem({ type: 'new', a })
    expect(hosted).toHaveLength(1)
    expect(hosted[0]?.length).toBeLessThan(50 * 65 + 100)
    expect(findInItem({ type: 'new', a: { b: { tools: [SEARCH] } }, c: { tools: [SEARCH] } }).hosted).toEqual(
      ['input[0].a.b.tools[0]'],
    )
    expect(
      find({ input: [{ type: 'new', a: { tools: [0], b: { c: [{ cache_control: {} }] } } }] }),
    ).toMatchObject({
      asksForCaching: true,
    })
  })

  test('refuses more than 1,024 tools that the gateway does not know', () => {
    const tools = (count: number): Json[] => Array.from({ length: count }, () => 0)
    for (const type of ['message', 'tool_search_output']) {
      const item = { type, role: 'user', content: 'x', call_id: 'c' }
      expect(findInItem({ ...item, tools: tools(1024) }).hosted).toHaveLength(1024)
      expect(() => findInItem({ ...item, tools: tools(1025) })).toThrow(
        /^input\[0\]\.tools\[1024\]: must not/,
      )
    }
  })

  test('a mark of prompt caching at each place that has one, and in no text', () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const places: JsonObject[] = [
      mark,
      { tools: [{ type: 'function', name: 'f', ...mark }] },
      { input: [{ role: 'user', content: 'x', ...mark }] },
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', ...mark }] }] },
      { input: [{ role: 'assistant', content: [{ type: 'output_text', text: 'x', ...mark }] }] },
      { input: [{ type: 'new', a: [{ b: mark }] }] },
      { input: [{ role: 'user', content: [{ type: 'new', a: [mark] }] }] },
      { input: [{ role: 'assistant', content: [{ type: 'new', a: mark }] }] },
      { other: { a: [mark] } },
    ]
    for (const fields of places) expect([fields, find(fields).asksForCaching]).toEqual([fields, true])
    expect(find({ input: 'cache_control cachePoint' }).asksForCaching).toBe(false)
    expect(find({ tools: [{ type: 'function', name: 'f', cache_control: null }] }).asksForCaching).toBe(false)
  })

  test('one answer', () => {
    expect(find({})).toMatchObject({ choices: 1 })
  })

  test('the most uses of hosted tools, as a whole number', () => {
    const tools = [{ type: 'web_search' }]
    const findUses = (most: Json) => find({ tools, max_tool_calls: most }).hostedTools[0]?.maxUses
    expect([2, 0.2, 0, -1, '3', null].map(findUses)).toEqual([2, 1, 0, undefined, undefined, undefined])
  })

  test('what an end user may not send: unknown fields, state, tool searches and stored files', () => {
    const search = { tools: [{ type: 'tool_search' }] }
    expect(find({ other: 1 }, true).passedOn).toBe('other')
    expect(find({ previous_response_id: 'r' }, true).passedOn).toBe('previous_response_id')
    expect(find(search, true).passedOn).toBe('tools[0]')
    expect(find({ tools: [{ type: 'tool_search', execution: 'client' }] }, true).passedOn).toBeUndefined()
    expect(find({ store: false, metadata: {}, max_tool_calls: 1 }, true).passedOn).toBeUndefined()
    const file = { input: [{ role: 'user', content: [{ type: 'input_image', fileId: 'f' }] }] }
    expect(find(file, true).stored).toBe('input[0].content[0].fileId')
    expect(find({ ...file, ...search, other: 1 })).toMatchObject({ stored: undefined, passedOn: undefined })
  })
})

describe('state that the gateway packed', () => {
  const id = packToolCallId('c', [DETAIL])
  const call = { type: 'function_call', call_id: id, name: 'f', arguments: '{}' }
  const reasoning = { type: 'reasoning', id: 'r', summary: [], encrypted_content: packReasoning([DETAIL]) }

  test.each<[string, JsonObject]>([
    ['the id of a call', call],
    ['the id of a result', { type: 'function_call_output', call_id: id, output: 'x' }],
    ['the id of a call of another kind', { type: 'apply_patch_call', call_id: id }],
    ['a reasoning item', reasoning],
  ])('is noticed in %s', (_, item) => {
    expect(parse({ input: [item] }).request.carriesReasoning).toBe(true)
  })

  test('is not seen in a text or in reasoning of the provider', () => {
    const own = { ...reasoning, encrypted_content: 'secret' }
    const { request } = parse({ input: [{ role: 'user', content: id }, own] })
    expect(request).not.toHaveProperty('carriesReasoning')
  })

  test('comes back as the reasoning of the message', () => {
    const [message] = parse({ input: [reasoning, { ...call, call_id: 'c' }] }).request.messages
    expect(message?.reasoning_details).toEqual([DETAIL])
  })
})

describe('readable reasoning', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const summary = [
    { type: 'summary_text', text: 'first ' },
    { type: 'summary_text', text: 'second' },
  ]
  const reasoningOf = (item: JsonObject) => {
    const [message] = parse({ input: [{ type: 'reasoning', id: 'r', ...item }, call] }).request.messages
    return message?.reasoning
  }

  test('goes back with the call that it led to if its model shows it', () => {
    expect(reasoningOf({ summary })).toBe('first second')
    expect(reasoningOf({ summary, encrypted_content: packReasoning([DETAIL]) })).toBe('first second')
    const content = [{ type: 'reasoning_text', text: 'whole' }]
    expect(reasoningOf({ summary, content })).toBe('whole')
  })

  test('stays in the encrypted content if its provider encrypted it', () => {
    expect(reasoningOf({ summary, encrypted_content: 'secret' })).toBeUndefined()
  })

  test('may have any form without harm', () => {
    for (const odd of [null, 'text', 1, {}, [1, null, { text: 2 }]]) {
      expect(reasoningOf({ summary: odd, content: odd })).toBeUndefined()
    }
  })
})

test('parameters are named as this format spells them', () => {
  expect([...(parse({}).spellings ?? [])]).toEqual([
    ['response_format', 'text.format'],
    ['verbosity', 'text.verbosity'],
    ['reasoning_effort', 'reasoning.effort'],
  ])
})
