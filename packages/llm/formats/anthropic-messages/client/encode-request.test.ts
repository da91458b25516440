import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../json/json-value.ts'
import type { Provider } from '../../../provider/provider.ts'
import { findProvider } from '../../../providers/index.ts'
import type { ChatRequest } from '../../../request/chat-request.ts'
import type { Target } from '../../../upstream/target.ts'
import { FIELDS as OPENAI_FIELDS } from '../../openai-chat/wire/fields.ts'
import { decodeReply } from './decode-reply.ts'
import { openStream } from './decode-stream.ts'
import { encodeRequest } from './encode-request.ts'
import { listUnsupportedParams } from './unsupported-params.ts'

const provider = findProvider('anthropic') as Provider
const SCHEMA = { type: 'object', properties: { n: { type: 'number', minimum: 1 } }, required: ['n'] }
const FORMAT = { type: 'json_schema' as const, json_schema: { name: 'x', schema: SCHEMA } }
const TOOLS = [
  { type: 'function' as const, function: { name: 'now', description: 'd', parameters: SCHEMA } },
  { type: 'function' as const, function: { name: 'bare' } },
]

const toTarget = (model = 'claude-sonnet-4-6', fields: Partial<Target> = {}): Target => ({
  provider,
  model,
  baseUrl: 'https://api.example.com/v1',
  apiKey: 'k',
  ...fields,
})

const toRequest = (fields: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'anthropic/x',
  messages: [{ role: 'user', content: 'hi' }],
  stream: false,
  includeUsage: false,
  ...fields,
})

const send = (fields: Partial<ChatRequest>, model?: string, dropped?: string[]): JsonObject =>
  JSON.parse(encodeRequest(toRequest(fields), toTarget(model), undefined, dropped).body.toString())

describe('address, headers and cap', () => {
  test('sends the address, version and content type', () => {
    expect(encodeRequest(toRequest(), toTarget(), undefined)).toMatchObject({
      origin: 'https://api.example.com',
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    })
  })

  test('always sends a cap: the caller’s, at most the model’s, else the model’s', () => {
    const cap = (maxOutputTokens: number | undefined, most: number | undefined, model?: string) =>
      JSON.parse(
        encodeRequest(
          toRequest(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
          toTarget(model, { maxOutputTokens: most }),
          undefined,
        ).body.toString(),
      ).max_tokens
    expect(cap(10, 64_000)).toBe(10)
    expect(cap(100_000, 64_000)).toBe(64_000)
    expect(cap(undefined, 64_000)).toBe(64_000)
    expect(cap(10, undefined)).toBe(10)
    expect(cap(undefined, undefined, 'claude-3-haiku-20240307')).toBe(4096)
    expect(cap(undefined, undefined, 'claude-3-5-haiku-latest')).toBe(8192)
    expect(cap(undefined, undefined, 'claude-opus-4-1-20250805')).toBe(32_000)
    expect(cap(undefined, undefined, 'claude-next')).toBe(64_000)
  })
})

describe('tools', () => {
  test('sends schemas, and an empty one for a tool without a schema', () => {
    expect(send({ tools: TOOLS }).tools).toEqual([
      { name: 'now', description: 'd', input_schema: SCHEMA },
      { name: 'bare', input_schema: { type: 'object', properties: {} } },
    ])
  })

  test.each<[Partial<ChatRequest>, unknown]>([
    [{}, undefined],
    [{ toolChoice: 'auto' }, { type: 'auto' }],
    [{ toolChoice: 'none' }, { type: 'none' }],
    [{ toolChoice: 'required' }, { type: 'any' }],
    [{ toolChoice: { type: 'function', function: { name: 'now' } } }, { type: 'tool', name: 'now' }],
    [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      { parallelToolCalls: false, toolChoice: 'required' },
      { type: 'any', disable_parallel_tool_use: true },
    ],
    [{ parallelToolCalls: true }, undefined],
  ])('%j', (fields, choice) => {
    expect(send({ ...fields, tools: TOOLS }).tool_choice).toEqual(choice)
  })

  test('a choice without tools is not sent', () => {
    expect(send({ toolChoice: 'none' })).not.toHaveProperty('tool_choice')
  })
})

describe('structured output', () => {
  test('a model that takes a schema gets it closed, with refused keywords in descriptions', () => {
    const encoded = encodeRequest(toRequest({ responseFormat: FORMAT }), toTarget(), undefined)
    expect(JSON.parse(encoded.body.toString()).output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { n: { type: 'number', description: '{minimum: 1}' } },
          required: ['n'],
          additionalProperties: false,
        },
      },
    })
    expect(encoded.emulated).toBeUndefined()
  })

  test('keeps a property that is named like a keyword', () => {
    const schema = { type: 'object', properties: { pattern: { type: 'string', pattern: 'x' } } }
    const responseFormat = { type: 'json_schema' as const, json_schema: { name: 'x', schema } }
    expect(send({ responseFormat }).output_config).toMatchObject({
      format: { schema: { properties: { pattern: { type: 'string', description: '{pattern: "x"}' } } } },
    })
    expect(schema.properties.pattern.pattern).toBe('x')
  })

  test('is a tool of the gateway where the schema has properties of any name, which structured output cannot have', () => {
    const schema = { type: 'object', additionalProperties: { type: 'string' } }
    const body = send({ responseFormat: { type: 'json_schema', json_schema: { name: 'x', schema } } })
    expect(body.output_config).toBeUndefined()
    expect(body.tools).toMatchObject([{ input_schema: schema }])
  })

  test('another model is forced to call a tool, and the call becomes content', () => {
    const old = 'claude-3-5-sonnet-20241022'
    const encoded = encodeRequest(toRequest({ responseFormat: FORMAT }), toTarget(old), undefined)
    const body = JSON.parse(encoded.body.toString())
    expect(encoded.emulated).toEqual(['response_format'])
    expect(body.tools).toHaveLength(1)
    expect(body.tool_choice).toMatchObject({ type: 'tool', name: body.tools[0].name })
    const block = { type: 'tool_use', id: 'toolu_1', name: body.tools[0].name, input: { n: 1 } }
    const reply = decodeReply({ content: [block], stop_reason: 'tool_use', usage: {} }, toTarget(old))
    expect(reply.choices[0]).toMatchObject({ finishReason: 'stop', message: { content: '{"n":1}' } })
    const decoder = openStream(toTarget(old))
    const events = [
      { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"n":1}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    ].flatMap(event => decoder.decode(JSON.stringify(event)))
    expect(events).toEqual([
      { type: 'delta', index: 0, content: '{"n":1}' },
      { type: 'delta', index: 0, finishReason: 'stop' },
    ])
  })

  test('beside tools of the caller, any tool may be called', () => {
    const body = send({ responseFormat: FORMAT, tools: TOOLS }, 'claude-3-haiku-20240307')
    expect(body.tools).toHaveLength(3)
    expect(body.tool_choice).toEqual({ type: 'any' })
  })

  test('any JSON object is requested by the instructions', () => {
    const encoded = encodeRequest(
      toRequest({
        responseFormat: { type: 'json_object' },
        messages: [
          { role: 'system', content: 'a' },
          { role: 'user', content: 'hi' },
        ],
      }),
      toTarget(),
      undefined,
    )
    expect(JSON.parse(encoded.body.toString()).system).toMatch(/^a\n\nAnswer with one JSON object/)
    expect(encoded.emulated).toEqual(['response_format'])
  })
})

describe('sampling, stop and user', () => {
  test('limits temperature to 1, and leaves out a temperature of 1 beside top_p', () => {
    expect(send({ temperature: 1.7 }).temperature).toBe(1)
    expect(send({ temperature: 1, topP: 0.5 })).toMatchObject({ top_p: 0.5 })
    expect(send({ temperature: 1, topP: 0.5 })).not.toHaveProperty('temperature')
    expect(send({ stop: ['a'] }).stop_sequences).toEqual(['a'])
  })

  test('sends a user’s id unless it is long or an address', () => {
    expect(send({ user: 'u-1' }).metadata).toEqual({ user_id: 'u-1' })
    expect(send({ user: 'a@example.com' })).not.toHaveProperty('metadata')
    expect(send({ user: 'x'.repeat(257) })).not.toHaveProperty('metadata')
  })

  test('adds the options for this provider', () => {
    expect(send({ providerOptions: { anthropic: { top_k: 5 }, openai: { x: 1 } } })).toMatchObject({
      top_k: 5,
    })
  })
})

describe('reasoning effort in the form of each model generation', () => {
  test.each<[string, string, JsonObject]>([
    [
      'claude-opus-4-7',
      'xhigh',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
    ],
    [
      'claude-sonnet-4-6',
      'xhigh',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
    ],
    [
      'claude-sonnet-5',
      'minimal',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-sonnet-4-5-20250929', 'low', { thinking: { type: 'enabled', budget_tokens: 4096 } }],
    ['claude-3-7-sonnet-20250219', 'high', { thinking: { type: 'enabled', budget_tokens: 24_576 } }],
  ])('%s, %s', (model, reasoningEffort, fields) => {
    expect(send({ reasoningEffort }, model)).toMatchObject(fields)
  })

  test('none is left out for a model that does not think by default', () => {
    expect(send({ reasoningEffort: 'none' }, 'claude-haiku-4-5')).not.toHaveProperty('thinking')
  })

  test('the budget stays below the cap', () => {
    const body = send({ reasoningEffort: 'high', maxOutputTokens: 3000 }, 'claude-haiku-4-5')
    expect(body).toMatchObject({ max_tokens: 3000, thinking: { budget_tokens: 1500 } })
  })

  test('with a forced tool call, a model thinks by effort, but not by a budget', () => {
    const forced = { reasoningEffort: 'high', toolChoice: 'required' as const, tools: TOOLS }
    expect(send(forced, 'claude-opus-4-6')).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      tool_choice: { type: 'any' },
    })
    const byBudget = send(forced, 'claude-haiku-4-5')
    expect(byBudget).toMatchObject({ tool_choice: { type: 'any' } })
    expect(byBudget).not.toHaveProperty('thinking')
  })
})

describe('unsupported parameters', () => {
  const find = (fields: Partial<ChatRequest>, model = 'claude-sonnet-4-6') =>
    listUnsupportedParams(toRequest(fields), provider, model)

  test.each<[Partial<ChatRequest>, string, string[]]>([
    [{ seed: 1 }, 'claude-sonnet-4-6', ['seed']],
    [{ presencePenalty: 0, frequencyPenalty: 0.5 }, 'claude-sonnet-4-6', ['frequency_penalty']],
    [{ temperature: 0.2 }, 'claude-opus-4-6', []],
    [{ temperature: 0.2 }, 'claude-opus-4-7', ['temperature']],
    [{ temperature: 1, topP: 1 }, 'claude-opus-5', []],
    [{ temperature: 0.2, topP: 0.5 }, 'claude-sonnet-4-5', ['top_p']],
    [{ temperature: 0.2, topP: 0.5 }, 'claude-3-haiku-20240307', []],
    [{ temperature: 0.2, reasoningEffort: 'low' }, 'claude-sonnet-4-5', ['temperature']],
    [{ stop: [' '] }, 'claude-sonnet-4-5', ['stop']],
    [{ reasoningEffort: 'low' }, 'claude-3-haiku-20240307', ['reasoning_effort']],
    [{ reasoningEffort: 'low', maxOutputTokens: 5 }, 'claude-haiku-4-5', ['reasoning_effort']],
    [{ reasoningEffort: 'low', toolChoice: 'required' }, 'claude-haiku-4-5', ['reasoning_effort']],
    [{ reasoningEffort: 'low', toolChoice: 'required' }, 'claude-opus-4-6', []],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
      'claude-sonnet-5',
      ['input_audio'],
    ],
  ])('%j of %s', (fields, model, names) => {
    expect(find(fields, model)).toEqual(names)
  })

  test('include extra fields of an OpenAI body, also unknown ones', () => {
    const extra = OPENAI_FIELDS.readExtra({
      n: 2,
      store: false,
      logprobs: true,
      metadata: {},
      top_k: 5,
      unheard_of: 1,
      user: 'u',
      verbosity: null,
    })
    expect(find({ ...(extra && { extra }) }, 'claude-sonnet-4-6')).toEqual(['n', 'logprobs', 'unheard_of'])
    expect(send({ ...(extra && { extra }) })).toMatchObject({ top_k: 5 })
  })

  test('are left out of the body', () => {
    const sampled = send({ temperature: 0.2, topP: 0.5, stop: [' '] }, 'claude-sonnet-4-5')
    expect(sampled).toMatchObject({ temperature: 0.2 })
    expect(sampled).not.toHaveProperty('top_p')
    expect(sampled).not.toHaveProperty('stop_sequences')
    const dropped = send({ reasoningEffort: 'low', temperature: 0.2 }, 'claude-opus-4-6', [
      'reasoning_effort',
    ])
    expect(dropped).toMatchObject({ temperature: 0.2 })
    expect(dropped).not.toHaveProperty('thinking')
    expect(send({ temperature: 0.2 }, 'claude-opus-4-6', ['temperature'])).not.toHaveProperty('temperature')
    expect(send({ temperature: 0.2 }, 'claude-opus-4-7')).not.toHaveProperty('temperature')
  })

  test.each([
    ['is lowered', 4096, 2048, []],
    ['stays', 8500, 8000, []],
    ['is left out and named', 1000, undefined, ['thinking']],
  ])(
    'a thinking budget of an OpenAI body %s under a cap of %s',
    (_, maxOutputTokens, budget, unsupported) => {
      const extra = new Map<string, Json>([['thinking', { type: 'enabled', budget_tokens: 8000 }]])
      const request = toRequest({ maxOutputTokens, extra })
      expect(listUnsupportedParams(request, provider, 'claude-haiku-4-5')).toEqual(unsupported)
      const sent = JSON.parse(encodeRequest(request, toTarget(), undefined, unsupported).body.toString())
      expect(sent.thinking?.budget_tokens).toBe(budget)
    },
  )
})
