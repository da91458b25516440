import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/json-value.ts'
import { toSourceBody } from '../../../testing/recorded-requests.ts'
import { packToolCallId } from '../../shared/reasoning/reasoning-carrier.ts'
import { parseCountRequest, parseRequest } from './parse-request.ts'

const MESSAGES: JsonObject = { messages: [{ role: 'user', content: 'hi' }] }
const MARK = { type: 'ephemeral' }

const parse = (fields: JsonObject, isEndUser = false) => {
  const body = { model: 'p/m', max_tokens: 10, ...MESSAGES, ...fields }
  return parseRequest(body, { source: toSourceBody('anthropic-messages', body), pathModel: '', isEndUser })
}
const count = (fields: JsonObject) => {
  const body = { model: 'p/m', ...MESSAGES, ...fields }
  return parseCountRequest(body, {
    source: toSourceBody('anthropic-messages', body),
    pathModel: '',
    isEndUser: false,
  })
}
const said = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })

describe('parameters', () => {
  test('are read by the table, and named to callers as this format names them', () => {
    const { request, spellings } = parse({
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['x'],
      stream: true,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      tools: [{ name: 'f' }],
    })
    expect(request).toMatchObject({
      model: 'p/m',
      maxOutputTokens: 10,
      temperature: 0.5,
      topP: 0.9,
      stop: ['x'],
      stream: true,
      includeUsage: true,
      toolChoice: 'auto',
      parallelToolCalls: false,
    })
    expect(spellings?.get('stop')).toBe('stop_sequences')
    expect(spellings?.get('reasoning_effort')).toBe('thinking')
  })

  test('null is absent, and an empty list of stop sequences is none', () => {
    const { request, findings } = parse({
      temperature: null,
      stop_sequences: [],
      tools: null,
      tool_choice: null,
      top_k: null,
      speed: null,
    })
    expect(request).not.toHaveProperty('temperature')
    expect(request).not.toHaveProperty('stop')
    expect(findings.nativeOnly).toEqual([])
  })

  test('a count reads none of the fields that say how the model answers', () => {
    const { request } = count({ max_tokens: 5, temperature: 'x', system: 'a' })
    expect(request).not.toHaveProperty('maxOutputTokens')
    expect(request).not.toHaveProperty('temperature')
    expect(request.messages).toHaveLength(2)
    expect(count({ top_k: 1 }).findings.nativeOnly).toEqual(['top_k'])
  })

  test.each<[string, JsonObject, string]>([
    ['no cap', { max_tokens: null }, 'max_tokens: is required.'],
    ['a cap of zero', { max_tokens: 0 }, 'max_tokens: must be at least 1.'],
    ['no model', { model: null }, 'model: must be a string.'],
    ['an empty model', { model: '' }, 'model: must not be empty.'],
    ['no message', { messages: [] }, 'messages: must have at least one message.'],
    [
      'an unknown role',
      { messages: [{ role: 'x', content: '' }] },
      'messages[0].role: must be user, assistant or system.',
    ],
    [
      'no content',
      { messages: [{ role: 'user' }] },
      'messages[0].content: must be a string or a list of blocks.',
    ],
    ['a block without a type', said({ text: 'x' }), 'messages[0].content[0].type: must be a string.'],
    ['a text without text', said({ type: 'text' }), 'messages[0].content[0].text: must be a string.'],
    [
      'an image without a source',
      said({ type: 'image' }),
      'messages[0].content[0].source: must be an object.',
    ],
    [
      'a result in a result of the wrong form',
      said({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text' }] }),
      'messages[0].content[0].content[0].text: must be a string.',
    ],
    [
      'a call without an id',
      said({ type: 'tool_use', name: 'f' }),
      'messages[0].content[0].id: must be a string.',
    ],
    ['a stop sequence of another type', { stop_sequences: [1] }, 'stop_sequences[0]: must be a string.'],
    ['a choice without a name', { tool_choice: { type: 'tool' } }, 'tool_choice.name: must be a string.'],
    ['thinking that is a string', { thinking: 'x' }, 'thinking: must be an object.'],
  ])('%s is refused by its path', (_, fields, message) => {
    expect(() => parse(fields)).toThrow(message)
  })
})

describe('what another price would need', () => {
  test.each<[JsonObject, string]>([
    [{ speed: 'fast' }, 'speed: must be standard.'],
    [{ speed: ['standard'] }, 'speed: must be a string.'],
    [{ inference_geo: 'us' }, 'inference_geo: must be global.'],
    [{ service_tier: 'priority' }, 'service_tier: must be auto or standard_only.'],
  ])('%j is refused', (fields, message) => {
    expect(() => parse(fields)).toThrow(message)
    expect(() => count(fields)).toThrow(message)
  })

  test.each<[JsonObject]>([
    [{ speed: 'standard' }],
    [{ inference_geo: 'global' }],
    [{ service_tier: 'auto' }],
    [{ service_tier: 'standard_only' }],
  ])('%j passes, and is lost nowhere', fields => {
    expect(parse(fields).findings.nativeOnly).toEqual([])
    expect(parse(fields, true).findings.passedOn).toBeUndefined()
  })

  test.each<[JsonObject, string]>([
    [{ mcp_servers: [] }, 'mcp_servers'],
    [{ container: 'c' }, 'container'],
    [{ models: ['x'] }, 'models'],
    [{ new_field: { model: 'x' } }, 'new_field.model'],
    [{ Model: 'x' }, 'A field name is written in other letters than it has.'],
    [{ cache_control: { model: 'x' } }, 'cache_control.model'],
    [{ tools: [{ type: 'web_search_new', name: 'web_search' }] }, 'tools[0].type'],
    [{ tools: [{ name: 'f', Type: 'web_search_20250305' }] }, 'tools[0].Type'],
    [{ tools: [{ name: 'f', mcp_server_name: 'a' }] }, 'tools[0].mcp_server_name'],
    [{ tools: [{ type: 'bash_20250124', name: 'bash', model: 'x' }] }, 'tools[0].model'],
    [{ tools: [{ type: 'web_fetch_20250910', name: 'f', Name: 'x' }] }, 'A field name is written in other'],
  ])('%j is refused', (fields, part) => {
    expect(() => parse(fields)).toThrow(part)
    expect(() => count(fields)).toThrow(part)
  })
})

describe('findings', () => {
  test('tools that the provider runs, with their type where its price can be known, and the choice of one', () => {
    const { findings, request } = parse({
      tools: [
        { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
        { type: 'web_search_20250305', name: 'other', container: 'c' },
        { type: 'code_execution_20260120', name: 'code_execution' },
        { type: 'web_fetch_20250910', name: 'web_fetch' },
        { name: 'f', input_schema: {} },
      ],
      tool_choice: { type: 'tool', name: 'web_search' },
    })
    expect(findings.hostedTools).toEqual([
      { path: 'tools[0]', type: 'web_search_20250305', maxUses: 3, choicePath: 'tool_choice' },
      { path: 'tools[1]', type: undefined },
      { path: 'tools[2]', type: undefined },
      { path: 'tools[3]', type: undefined, isFree: true },
    ])
    expect(findings).toMatchObject({ nativeOnly: [], hosted: [], uncounted: ['tools[3]'] })
    expect(request.tools?.map(tool => tool.function.name)).toEqual(['f'])
  })

  test('tools that the models are trained for, their choice, unknown blocks and fields are for this format only', () => {
    const { findings, request } = parse({
      tools: [{ name: 'f' }, { type: 'computer_20251124', name: 'computer' }],
      tool_choice: { type: 'tool', name: 'computer' },
      system: [{ type: 'hologram' }],
      ...said(
        { type: 'image', source: { type: 'file', file_id: 'f' } },
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'web_search_result' }] },
      ),
      top_k: 5,
      novelty: 1,
      context_management: { edits: [] },
      betas: ['x'],
    })
    expect(findings).toMatchObject({
      nativeOnly: [
        'tools[1]',
        'tool_choice',
        'system[0]',
        'messages[0].content[0]',
        'messages[0].content[1].content[0]',
        'top_k',
        'novelty',
      ],
      hosted: [],
      uncounted: [],
      choices: 1,
    })
    expect(request.tools).toHaveLength(1)
    expect(request).not.toHaveProperty('toolChoice')
  })

  test('tools that the caller runs become functions of their documented input, and can be chosen', () => {
    const { findings, request } = parse({
      tools: [
        { type: 'bash_20250124', name: 'bash', cache_control: MARK },
        { type: 'text_editor_20250124', name: 'str_replace_editor' },
        { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 5 },
        { type: 'memory_20250818', strict: true },
      ],
      tool_choice: { type: 'tool', name: 'bash' },
    })
    expect(findings).toMatchObject({ nativeOnly: [], hosted: [], hostedTools: [], uncounted: [] })
    expect(request.toolChoice).toEqual({ type: 'function', function: { name: 'bash' } })
    const tools = (request.tools ?? []).map(tool => tool.function)
    expect(tools.map(({ name }) => name)).toEqual([
      'bash',
      'str_replace_editor',
      'str_replace_based_edit_tool',
      'memory',
    ])
    expect(request.tools?.[0]).toMatchObject({ cache_control: MARK })
    const inputs = tools.map(({ parameters }) => Object.keys(parameters?.properties ?? {}))
    expect(inputs[0]).toEqual(['command', 'restart'])
    expect(inputs[1]).not.toContain('insert_text')
    expect(inputs[2]).toContain('insert_text')
    expect(inputs[3]).toEqual(expect.arrayContaining(['old_path', 'new_path', 'file_text']))
    const commands = tools.map(({ parameters }) => JSON.stringify(parameters).includes('undo_edit'))
    expect(commands).toEqual([false, true, false, false])
    for (const { strict, description } of tools)
      expect([strict, typeof description]).toEqual([undefined, 'string'])
  })

  test.each<[string, JsonObject[], string]>([
    ['a version whose input is not known', [{ type: 'bash_20990101', name: 'bash' }], 'tools[0]'],
    [
      'a second tool of one type, since each becomes longer',
      [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'bash_20250124', name: 'bash2' },
      ],
      'tools[1]',
    ],
  ])('%s is for this format only', (_, tools, path) => {
    expect(parse({ tools }).findings.nativeOnly).toEqual([path])
  })

  test('a tool that the provider runs is uncounted input, and nothing for a client token', () => {
    const tools = [{ name: 'f' }, { type: 'web_fetch_20250910', name: 'web_fetch' }]
    expect(parse({ tools }).findings).toMatchObject({ uncounted: ['tools[1]'], passedOn: undefined })
    expect(parse({ tools }, true).findings).toMatchObject({ uncounted: ['tools[1]'], passedOn: 'tools[1]' })
  })

  test.each<[JsonObject, string | undefined]>([
    [{ novelty: 1 }, 'novelty'],
    [{ context_management: { edits: [] } }, 'context_management'],
    [{ anthropic_beta: ['x'] }, 'anthropic_beta'],
    [{ top_k: 5, metadata: {}, cache_control: MARK, output_config: { a: 1 } }, undefined],
  ])('%j: a client token may not send %s', (fields, name) => {
    expect(parse(fields, true).findings.passedOn).toBe(name)
    expect(parse(fields).findings.passedOn).toBeUndefined()
  })

  test('a stored file is found for an end user', () => {
    const file = said({ type: 'document', source: { type: 'file', file_id: 'f' } })
    expect(parse(file, true).findings.stored).toBe('messages[0].content[0].source.file_id')
    expect(parse(file).findings.stored).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['the body', { cache_control: MARK }],
    ['the instructions', { system: [{ type: 'text', text: 'a', cache_control: MARK }] }],
    ['a tool', { tools: [{ name: 'f', cache_control: MARK }] }],
    ['a trained tool', { tools: [{ type: 'bash_20250124', name: 'bash', cache_control: MARK }] }],
    ['a block', said({ type: 'text', text: 'a', cache_control: MARK })],
    ['an empty block', said({ type: 'text', text: '', cache_control: MARK })],
    ['a call', said({ type: 'tool_use', id: 't', name: 'f', input: {}, cache_control: MARK })],
    ['a result', said({ type: 'tool_result', tool_use_id: 't', cache_control: MARK })],
    [
      'a block of a result',
      said({
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'text', text: 'a', cache_control: MARK }],
      }),
    ],
    [
      'a block of a document',
      said({
        type: 'document',
        source: { type: 'content', content: [{ type: 'text', text: 'a', cache_control: MARK }] },
      }),
    ],
    ['an unknown block', said({ type: 'new', content: [{ inner: { cache_control: MARK } }] })],
  ])('a mark of caching on %s is found', (_, fields) => {
    expect(parse(fields).findings.asksForCaching).toBe(true)
  })

  test.each<[string, JsonObject]>([
    ['a mark of null', said({ type: 'text', text: 'a', cache_control: null })],
    ['the word in a text', { messages: [{ role: 'user', content: '"cache_control"' }] }],
    [
      'the word in a schema and in an input',
      {
        tools: [{ name: 'f', input_schema: { properties: { cache_control: {} } } }],
        ...said({ type: 'tool_use', id: 't', name: 'f', input: { cache_control: MARK } }),
      },
    ],
  ])('%s asks for no caching', (_, fields) => {
    expect(parse(fields).findings.asksForCaching).toBe(false)
  })
})

describe('reasoning of another provider', () => {
  const packed = packToolCallId('t', [{ type: 'reasoning.encrypted', format: 'google-gemini-v1', data: 'A' }])

  test.each<[string, JsonObject]>([
    ['in the id of a call', { type: 'tool_use', id: packed, name: 'f', input: {} }],
    ['in the id of a result', { type: 'tool_result', tool_use_id: packed }],
    ['under our signature', { type: 'thinking', thinking: 'x', signature: 'rideau-thinking' }],
  ])('%s is told to the client side', (_, block) => {
    expect(parse(said(block)).request.carriesReasoning).toBe(true)
  })

  test('the same words in a text are not', () => {
    const text = `${packed} rideau-thinking`
    expect(parse(said({ type: 'text', text })).request).not.toHaveProperty('carriesReasoning')
  })
})
