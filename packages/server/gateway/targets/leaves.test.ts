import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completion } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/**
 * What the checks of the parsers do not look for is refused by the last check, right before a body would leave: by client
 * tokens, in every format, at providers of the same format.
 */

let harness: FormatHarness
const ask: FormatHarness['send'] = (...args) => harness.send(...args)
const set: FormatHarness['set'] = fields => harness.set(fields)

beforeAll(async () => {
  harness = await openFormatHarness()
  await harness.app.addCredential('openrouter', { api_key: 'key', base_url: harness.upstream.baseUrl })
})

afterAll(() => harness.close())

const REFUSED = { status: 400, code: 'invalid_request', sent: [] }

type Case = readonly [format: string, fields: Record<string, unknown>, param: string]

const say = (content: unknown, more: object = {}) => ({ messages: [{ role: 'user', content, ...more }] })
const CHAT_TOOL = { type: 'function', function: { name: 'f', parameters: {} } }

/** A key may send it to a provider that knows it. */
const NOT_FOR_TOKENS: readonly Case[] = [
  ['openai-chat', say('a', { novelty: 1 }), 'messages[0].novelty'],
  ['openai-chat', say([{ type: 'text', text: 'a', novelty: 1 }]), 'messages[0].content[0].novelty'],
  ['openai-chat', say([{ type: 'video_url', video_url: { url: 'data:,x' } }]), 'messages[0].content[0]'],
  ['openai-chat', { response_format: { type: 'text', novelty: 1 } }, 'response_format.novelty'],
  [
    'openai-chat',
    { tools: [CHAT_TOOL], tool_choice: { type: 'function', function: { name: 'f' }, novelty: 1 } },
    'tool_choice.novelty',
  ],
  ['openai-responses', { input: [{ role: 'user', content: 'a', novelty: 1 }] }, 'input[0].novelty'],
  [
    'openai-responses',
    { input: [{ role: 'user', content: [{ type: 'input_text', text: 'a', novelty: {} }] }] },
    'input[0].content[0].novelty',
  ],
  ['openai-responses', { text: { novelty: 1 } }, 'text.novelty'],
  ['openai-responses', { reasoning: { novelty: 1 } }, 'reasoning.novelty'],
  ['anthropic-messages', say('a', { novelty: 1 }), 'messages[0].novelty'],
  ['anthropic-messages', say([{ type: 'text', text: 'a', novelty: 1 }]), 'messages[0].content[0].novelty'],
  ['anthropic-messages', { thinking: { type: 'disabled', novelty: 1 } }, 'thinking.novelty'],
  ['anthropic-messages', { output_config: { novelty: 1 } }, 'output_config.novelty'],
  ['bedrock-converse', say([{ text: 'a' }], { novelty: 1 }), 'messages[0].novelty'],
  ['bedrock-converse', { system: [{ text: 'a', novelty: 1 }] }, 'system[0]'],
  ['cohere-v2', say('a', { novelty: 1 }), 'messages[0].novelty'],
  ['cohere-v2', say([{ type: 'text', text: 'a', novelty: 1 }]), 'messages[0].content[0].novelty'],
  ['cohere-v2', { thinking: { type: 'disabled', novelty: 1 } }, 'thinking.novelty'],
  ['cohere-v2', { safety_mode: 'OFF' }, 'safety_mode'],
  ['cohere-v2', { safety_mode: 'none' }, 'safety_mode'],
]

const DATA = { document_id: 'd', file_id: 'f', store: 'Berlin', file: 'file_utils.py', text: '{a: 1}' }
const answered = (more: object) => ({
  messages: [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'x', ...more },
    { role: 'user', content: 'What does fileid:// mean?' },
  ],
})

const OWN_DATA: readonly (readonly [format: string, fields: Record<string, unknown>])[] = [
  ['cohere-v2', { documents: [{ id: 'd', data: DATA }] }],
  ['cohere-v2', answered({ citations: [{ sources: [{ type: 'document', document: DATA }] }] })],
  ['openai-chat', answered({ parsed: DATA })],
  [
    'openai-responses',
    {
      input: [
        { role: 'user', content: 'a' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x', parsed: DATA }] },
      ],
    },
  ],
]

describe('a client token', () => {
  test.each(NOT_FOR_TOKENS)(
    'may not send what is not known to be harmless: %s %j',
    async (format, fields, param) => {
      expect(await ask(format, format, fields, harness.token)).toMatchObject({ ...REFUSED, param })
      expect((await ask(format, format, fields)).status).toBe(200)
      await set({ allow_client_passthrough: true })
      expect((await ask(format, format, fields, harness.token)).status).toBe(200)
      await set({ allow_client_passthrough: false })
    },
  )

  test.each(OWN_DATA)(
    'may call its own data as it likes, also as a provider calls what it stores: %s %j',
    async (format, fields) => {
      for (const allowed of [false, true]) {
        await set({ allow_client_passthrough: allowed })
        const { status, sent } = await ask(format, format, fields, harness.token)
        expect([status, sent]).toMatchObject([200, [fields]])
      }
      await set({ allow_client_passthrough: false })
    },
  )

  test('may send it to a provider of another format, which never gets it', async () => {
    const fields = say([{ type: 'text', text: 'a', novelty: 1 }], { novelty: 1 })
    const { status, sent } = await ask('openai-chat', 'anthropic-messages', fields, harness.token)
    expect(status).toBe(200)
    expect(JSON.stringify(sent)).not.toContain('novelty')
  })

  test('may not hear an answer that the provider keeps, with and without passthrough', async () => {
    const messages = [
      { role: 'assistant', content: null, audio: { id: 'audio_of_others' } },
      { role: 'user', content: 'a' },
    ]
    for (const allowed of [false, true]) {
      await set({ allow_client_passthrough: allowed })
      const outcome = await ask('openai-chat', 'openai-chat', { messages }, harness.token)
      expect(outcome).toMatchObject({ ...REFUSED, param: 'messages[0].audio' })
    }
    await set({ allow_client_passthrough: false })
    expect((await ask('openai-chat', 'openai-chat', { messages })).status).toBe(200)
  })

  test('may not have Gemini read a bucket, which only the account can', async () => {
    const fields = say([{ type: 'image_url', image_url: { url: 'gs://bucket-of-others/x.png' } }])
    for (const allowed of [false, true]) {
      await set({ allow_client_passthrough: allowed })
      const outcome = await ask('openai-chat', 'gemini-content', fields, harness.token)
      expect(outcome).toMatchObject({ ...REFUSED, param: 'contents[0].parts[0].fileData.fileUri' })
    }
    await set({ allow_client_passthrough: false })
    expect((await ask('openai-chat', 'gemini-content', fields)).status).toBe(200)
  })

  test('may not name a model that searches the web, stands for stored parameters or chooses among models', async () => {
    const { app, upstream, token } = harness
    await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
    upstream.script(completion('x'))
    const send = async (model: string, key: string) => {
      const before = upstream.requests.length
      const body = { model, messages: [{ role: 'user', content: 'a' }] }
      const { status } = await app.call('/openai/v1/chat/completions', body, { key })
      return [status, upstream.requests.length - before]
    }
    for (const name of [
      'openrouter/openai/gpt-4o-mini:online',
      'openrouter/openai/gpt-4o-mini:OnLine',
      'openrouter/@preset/mine',
      'openrouter/@Preset/mine',
      'custom/openai/gpt-4o-mini:online',
      'custom/@preset/mine',
      'openrouter/openrouter/fusion',
      'openrouter/OpenRouter/pareto-code',
      'openrouter/switchpoint/router',
      'custom/openrouter/fusion',
      'openrouter/openai/gpt-4o-mini:nitro',
      'openrouter/openai/gpt-4o-mini:exacto',
      'openrouter/openai/gpt-4o-mini: online',
      'openrouter/ openrouter/auto',
      'openrouter/openrouter/fusion/',
      'openrouter/openrouter/auto?x=/y',
    ]) {
      expect(await send(name, token)).toEqual([400, 0])
      expect(await send(name, app.secretKey)).toEqual([200, 1])
    }
    for (const name of ['openrouter/openai/gpt-4o-mini', 'custom/llama3:8b'])
      expect(await send(name, token)).toEqual([200, 1])
  })

  test('names no other end user to the provider, and reaches no other cache', async () => {
    const { app, upstream, token } = harness
    const fields = {
      user: 'other',
      safety_identifier: 'other',
      prompt_cache_key: 'other',
      metadata: { a: 'b' },
    }
    for (const format of ['openai-chat', 'openai-responses']) {
      const { sent, dropped } = await ask(format, format, fields, token)
      expect([dropped, JSON.stringify(sent)]).toEqual([
        'safety_identifier, prompt_cache_key',
        expect.not.stringContaining('other'),
      ])
      expect(sent[0]).toHaveProperty('metadata')
      expect((await ask(format, format, fields)).sent[0]).toMatchObject(fields)
    }
    const named = { metadata: { user_id: 'other' } }
    const claude = await ask('anthropic-messages', 'anthropic-messages', named, token)
    expect([claude.dropped, claude.sent[0]?.metadata]).toEqual(['metadata', undefined])
    expect((await ask('anthropic-messages', 'anthropic-messages', named)).sent[0]).toMatchObject(named)
    const translated = await ask('openai-chat', 'anthropic-messages', { user: 'other' }, token)
    expect(JSON.stringify(translated.sent)).not.toContain('other')
    await set({ allow_client_passthrough: true })
    expect((await ask('openai-chat', 'openai-chat', fields, token)).sent[0]).toMatchObject(fields)
    await set({ allow_client_passthrough: false })
    await app.addCredential('openai', { api_key: 'key', base_url: upstream.baseUrl })
    for (const [route, body] of [
      ['embeddings', { model: 'openai/text-embedding-3-small', input: 'a', user: 'other' }],
      ['images/generations', { model: 'openai/gpt-image-1', prompt: 'a', user: 'other' }],
    ] as const) {
      for (const [key, user] of [
        [token, undefined],
        [app.secretKey, 'other'],
      ] as const) {
        const before = upstream.requests.length
        await app.call(`/openai/v1/${route}`, body, { key })
        expect(upstream.requests[before]?.body.user).toBe(user)
      }
    }
  })

  test('gives no metadata to a server of the owner, which may be a proxy that routes by it', async () => {
    const { app, upstream, token } = harness
    await app.addCredential('custom', { api_key: 'k', base_url: upstream.baseUrl })
    upstream.script(completion('x'))
    const body = {
      model: 'custom/llama3:8b',
      messages: [{ role: 'user', content: 'a' }],
      metadata: { tags: 'paid' },
    }
    const { headers } = await app.call('/openai/v1/chat/completions', body, { key: token })
    expect(headers.get('x-rideau-dropped-params')).toBe('metadata')
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('metadata')
  })

  test('uses no limit by a request that is refused so late', async () => {
    const { app, token } = harness
    const limits = `/v1/environments/${app.developmentId}/limits`
    const fields = { scope: 'default_end_user', metric: 'requests', limit: 1, window_seconds: 3600 }
    const { body } = await app.manage('POST', limits, fields)
    const refused = say('a', { novelty: 1 })
    for (let time = 0; time < 3; time++) {
      expect(await ask('openai-chat', 'openai-chat', refused, token)).toMatchObject(REFUSED)
    }
    expect((await ask('openai-chat', 'openai-chat', {}, token)).status).toBe(200)
    expect((await ask('openai-chat', 'openai-chat', {}, token)).status).toBe(429)
    await app.manage('DELETE', `/v1/limits/${body.id}`)
  })
})

describe('options of a key for a provider', () => {
  const PROVIDERS: readonly (readonly [format: string, provider: string])[] = [
    ['openai-chat', 'groq'],
    ['openai-responses', 'openai'],
    ['anthropic-messages', 'anthropic'],
    ['gemini-content', 'gemini'],
    ['bedrock-converse', 'bedrock'],
    ['cohere-v2', 'cohere'],
    ['ollama-chat', 'ollama'],
  ]
  const OPTIONS: readonly Record<string, unknown>[] = [
    { container: 'c' },
    { fallback: { model: 'x' } },
    { thread: { type: 'create' } },
    { billing_policy: 'x' },
    { extra_body: { model: 'x' } },
    { extra_body: '{"model":"x"}' },
    { model: 'x' },
    { MODEL: 'x' },
    { n: 100 },
    { candidateCount: 9 },
    { generation_config: { candidate_count: 9 } },
    { cachedContent: 'cachedContents/x' },
    { previous_response_id: 'r' },
  ]

  test.each(PROVIDERS)('may not change what is authorized or priced, to %s', async (format, provider) => {
    for (const key of [harness.app.secretKey, harness.token]) {
      for (const options of OPTIONS) {
        const outcome = await ask('native', format, { provider_options: { [provider]: options } }, key)
        expect([options, outcome]).toMatchObject([options, REFUSED])
      }
    }
  })

  test.each(PROVIDERS)('may set a field that nobody reserves, to %s', async (format, provider) => {
    const fields = { provider_options: { [provider]: { novelty: { a: [1] } } } }
    const { status, sent } = await ask('native', format, fields)
    expect([status, sent[0]?.novelty]).toEqual([200, { a: [1] }])
  })
})

test('a web fetch reserves what its pages may add to the input', async () => {
  const { app } = harness
  const { id, key } = await app.createKey({})
  const budget = { limit_usd: 0.5, window: 'total', scope: 'key', scope_ref: id }
  expect((await app.manage('POST', `/v1/projects/${app.projectId}/budgets`, budget)).status).toBe(201)
  const format = 'anthropic-messages'
  expect((await ask(format, format, {}, key)).status).toBe(200)
  const tools = [{ type: 'web_fetch_20250910', name: 'web_fetch' }]
  expect(await ask(format, format, { tools }, key)).toMatchObject({ status: 402, sent: [] })
  expect((await ask(format, format, {}, key)).status).toBe(200)
})

describe('a tool among the messages', () => {
  const SEARCH = { type: 'web_search_20250305', name: 'web_search' }
  const CODE = { type: 'code_execution_20250825', name: 'code_execution' }
  const ADVISOR = { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-8' }
  const TOOLSET = { type: 'mcp_toolset', mcp_server_name: 's' }

  const define = (definition: object) => ({ type: 'tool_definition', definition })
  const add = (tool: object) => ({ type: 'tool_addition', tool })
  const join = (block: object) => ({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'system', content: [block] },
    ],
  })
  const item = (fields: object) => ({ input: [{ role: 'user', content: 'a' }, fields] })
  const part = (fields: object) => ({ contents: [{ role: 'user', parts: [{ text: 'a' }, fields] }] })
  const BLOCK = 'messages[1].content[0]'

  const HOSTED: readonly Case[] = [
    ...[SEARCH, CODE, ADVISOR, TOOLSET].flatMap((tool): Case[] => [
      ['anthropic-messages', join(add(tool)), `${BLOCK}.tool`],
      ['anthropic-messages', join(add(define(tool))), `${BLOCK}.tool.definition`],
      [
        'anthropic-messages',
        join({ type: 'compaction', content: 'x', tool_changes: [add(tool)] }),
        `${BLOCK}.tool_changes[0].tool`,
      ],
      ['anthropic-messages', join({ type: 'x', tool }), `${BLOCK}.tool`],
      ['anthropic-messages', join({ type: 'x', y: [{ z: tool }] }), `${BLOCK}.y[0].z`],
      ['anthropic-messages', join(tool), BLOCK],
    ]),
    ['anthropic-messages', { system: [add(SEARCH)] }, 'system[0].tool'],
    ['openai-responses', item({ type: 'zzz', tool: { type: 'web_search' } }), 'input[1].tool'],
    ['openai-responses', item({ type: 'zzz', x: { y: [{ type: 'web_search' }] } }), 'input[1].x.y[0]'],
    ['openai-responses', item({ type: 'web_search' }), 'input[1]'],
    ['openai-chat', say('a', { tools: [{ type: 'builtin_function' }] }), 'messages[0].tools[0]'],
    ['gemini-content', part({ novelty: { googleSearch: {} } }), 'contents[0].parts[1].novelty'],
    ['bedrock-converse', say([{ novelty: { systemTool: {} } }]), 'messages[0].content[0].novelty.systemTool'],
    ['cohere-v2', say('a', { tools: [{ type: 'web_search' }] }), 'messages[0].tools[0]'],
  ]

  const OWN: readonly (readonly [format: string, fields: Record<string, unknown>])[] = [
    ['anthropic-messages', join(add(define({ name: 'weather', input_schema: { type: 'object' } })))],
    ['anthropic-messages', join(add({ type: 'tool_reference', name: 'weather' }))],
    ['anthropic-messages', join({ type: 'x', tool: { name: 'weather', input_schema: { type: 'object' } } })],
    ['openai-responses', item({ type: 'web_search_call', id: 'ws', action: { type: 'search', query: 'q' } })],
    ['openai-chat', say('a', { tools: [CHAT_TOOL] })],
  ]

  let limited: string

  beforeAll(async () => {
    limited = (await harness.app.createKey({ restrictions: { max_request_cost_usd: 0.05 } })).key
  })

  test.each(HOSTED)('may not be one that the provider runs, to %s: %j', async (format, fields, param) => {
    expect(await ask(format, format, fields)).toMatchObject({ ...REFUSED, param })
    expect(await ask(format, format, fields, limited)).toMatchObject({ ...REFUSED, param })
    for (const isTrusted of [false, true]) {
      await set({ allow_client_passthrough: isTrusted })
      expect(await ask(format, format, fields, harness.token)).toMatchObject(REFUSED)
    }
    await set({ allow_client_passthrough: false })
  })

  test.each(OWN)('may be one that the caller runs, from a key, to %s: %j', async (format, fields) => {
    const { status, sent } = await ask(format, format, fields)
    expect([status, sent.length]).toEqual([200, 1])
    expect(await ask(format, format, fields, harness.token)).toMatchObject(REFUSED)
  })
})
