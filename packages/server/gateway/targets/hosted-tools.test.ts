import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** Tools that a provider runs, and requests that only a secret key may make, in every spelling. */

let harness: FormatHarness
const send: FormatHarness['send'] = (...args) => harness.send(...args)
const set: FormatHarness['set'] = fields => harness.set(fields)

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const REFUSED = { status: 400, code: 'invalid_request', sent: [] }

/** Extra fields of the smallest request, and the path that the refusal names. */
type Case = readonly [format: string, fields: Record<string, unknown>, param: string]

const converse = (tool: object): Case => [
  'bedrock-converse',
  { toolConfig: { tools: [tool] } },
  'toolConfig.tools[0]',
]
const responses = (tool: object): Case => ['openai-responses', { tools: [tool] }, 'tools[0]']
const space = (tools: unknown, fields: object = {}): Case =>
  responses({ type: 'namespace', name: 'a', tools, ...fields })
const item = (fields: object, param: string): Case => ['openai-responses', { input: [fields] }, param]
const called = (format: string, tool: object, param: string): Case => [format, { tools: [tool] }, param]

const SEARCH = { type: 'web_search' }
const SPEC = { name: 'f', inputSchema: { json: {} } }
const FUNCTION = { type: 'function', function: { name: 'f' } }
const GROUNDING = { name: 'nova_grounding' }

const HOSTED: readonly Case[] = [
  converse({ cachePoint: null, systemTool: GROUNDING }),
  converse({ cachePoint: { type: 'default' }, systemTool: GROUNDING }),
  converse({ cachePoint: { type: 'default' }, SystemTool: GROUNDING }),
  converse({ toolSpec: SPEC, systemTool: GROUNDING }),
  converse({ toolSpec: SPEC, SYSTEMTOOL: GROUNDING }),
  converse({ toolspec: SPEC }),
  converse({ cachePoint: null }),
  converse({}),
  ['bedrock-converse', { toolConfig: { tools: [], Tools: [{ systemTool: {} }] } }, 'toolConfig.Tools'],
  ['bedrock-converse', { serviceTier: { type: 'default', Type: 'priority' } }, 'serviceTier.Type'],
  ['bedrock-converse', { performanceConfig: { Latency: 'optimized' } }, 'performanceConfig.Latency'],
  space([SEARCH]),
  space([
    { type: 'function', name: 'f' },
    { type: 'mcp', server_url: 'https://a.example' },
  ]),
  space([{ type: 'namespace', name: 'b', tools: [SEARCH] }]),
  space([{ type: 'namespace', name: 'b', tools: [] }]),
  space([{ type: 'shell' }]),
  space(SEARCH),
  space([], { Tools: [SEARCH] }),
  space(['web_search']),
  responses({ type: 'function', name: 'f', web_search: {} }),
  responses({ type: 'function', name: 'f', Type: 'web_search' }),
  responses({ type: 'custom', name: 'f', tools: [{ type: 'mcp' }] }),
  responses({ type: 'local_shell', container: 'auto' }),
  responses({ type: 'shell', environment: { type: 'local', container_id: 'c' } }),
  responses({ type: 'shell', Environment: { type: 'container_auto' } }),
  responses({ type: 'Web_Search' }),
  item(
    { type: 'additional_tools', tools: [{ type: 'namespace', name: 'a', tools: [SEARCH] }] },
    'input[0].tools[0]',
  ),
  item({ type: 'additional_tools', tools: SEARCH }, 'input[0].tools[0]'),
  item({ type: 'novel_tools', set: [{ Tools: [{ type: 'mcp' }] }] }, 'input[0].set.Tools[0]'),
  item({ role: 'developer', content: 'hi', tools: [SEARCH] }, 'input[0].tools[0]'),
  called('openai-chat', { ...FUNCTION, web_search: {} }, 'tools[0].web_search'),
  called('openai-chat', { ...FUNCTION, Type: 'web_search' }, 'tools[0].Type'),
  called('native', { ...FUNCTION, web_search: {} }, 'tools[0].web_search'),
  called('cohere-v2', { ...FUNCTION, server_url: 'x' }, 'tools[0].server_url'),
  called('ollama-chat', { ...FUNCTION, Type: 'web_search' }, 'tools[0].Type'),
  called('anthropic-messages', { name: 'f', Type: 'web_search_20250305' }, 'tools[0].Type'),
  called('anthropic-messages', { name: 'f', mcp_server_name: 'a' }, 'tools[0].mcp_server_name'),
  called('anthropic-messages', { type: 'bash_code_execution_20250825', name: 'b' }, 'tools[0].type'),
  called('anthropic-messages', { type: 'Web_Fetch_20250910', name: 'b' }, 'tools[0].type'),
  called('anthropic-messages', { type: 'bash_20250124', name: 'b', container: 'c' }, 'tools[0].container'),
]

const CONNECTS = /server_url|container_id|"container":"/
const isDropped = ([format, fields]: Case): boolean =>
  format === 'openai-responses' && !CONNECTS.test(JSON.stringify(fields))

const MCP = { type: 'mcp', server_url: 'https://a.example' }
const CONNECTORS: readonly Case[] = [
  responses(MCP),
  responses({ type: 'mcp', connector_id: 'connector_gmail' }),
  responses({ type: 'file_search', vector_store_ids: ['v'] }),
  responses({ type: 'code_interpreter', container: 'cntr_1' }),
  item({ type: 'additional_tools', tools: [SEARCH, MCP] }, 'input[0].tools[1]'),
  item({ type: 'additional_tools', Tools: [MCP] }, 'input[0].Tools[0]'),
  item({ role: 'developer', content: 'hi', tools: [SEARCH, MCP] }, 'input[0].tools[1]'),
  item({ type: 'novel_tools', set: [{ tools: [SEARCH, MCP] }] }, 'input[0].set.tools[1]'),
  ['gemini-content', { tools: [{ fileSearch: { fileSearchStoreNames: ['s'] } }] }, 'tools[0].fileSearch'],
  ['gemini-content', { tools: [{ file_search: { file_search_store_names: ['s'] } }] }, 'tools[0].fileSearch'],
  ['gemini-content', { tools: [{ retrieval: { vertexRagStore: {} } }] }, 'tools[0].retrieval'],
]

describe('a hosted tool', () => {
  test.each(HOSTED)('is refused for secret keys and client tokens: %s %j', async (format, fields, param) => {
    await set({ unsupported_params: 'refuse' })
    for (const key of [harness.app.secretKey, harness.token]) {
      const outcome = await send(format, format === 'native' ? 'openai-chat' : format, fields, key)
      expect(outcome).toMatchObject({ status: 400, sent: [] })
      expect(outcome.param.startsWith(param)).toBe(true)
    }
  })

  test.each([...HOSTED.filter(([, fields]) => CONNECTS.test(JSON.stringify(fields))), ...CONNECTORS])(
    'is refused where the environment drops unsupported parameters if it names an address or a stored object: %s %j',
    async (format, fields, param) => {
      await set({ unsupported_params: 'drop' })
      const outcome = await send(format, format, fields)
      expect(outcome).toMatchObject({ status: 400, sent: [] })
      expect(outcome.param.startsWith(param)).toBe(true)
      await set({ unsupported_params: 'refuse' })
    },
  )

  test('with a local shell, whose skills are on the caller’s machine, is sent where unsupported parameters are dropped', async () => {
    await set({ unsupported_params: 'drop' })
    const skills = [{ name: 's', description: 'd', path: '/p' }]
    const tools = [{ type: 'shell', environment: { type: 'local', skills } }]
    const { status, sent } = await send('openai-responses', 'openai-responses', { tools })
    expect([status, sent[0]?.tools]).toEqual([200, tools])
    await set({ unsupported_params: 'refuse' })
  })

  test.each(HOSTED.filter(isDropped))(
    'is not sent where the environment drops unsupported parameters: %s %j',
    async (format, fields) => {
      await set({ unsupported_params: 'drop' })
      const { status, sent } = await send(format, format, fields)
      expect([status, sent.length]).toEqual([200, 1])
      expect(JSON.stringify(sent)).not.toMatch(/mcp|web_?search|shell|"custom"|container/i)
      await set({ unsupported_params: 'refuse' })
    },
  )

  test('is not a namespace of functions and custom tools, which passes unchanged', async () => {
    const tools = [
      {
        type: 'namespace',
        name: 'a',
        description: 'b',
        tools: [
          { type: 'function', name: 'f', parameters: {}, strict: false, defer_loading: true },
          { type: 'custom', name: 'g', format: { type: 'text' } },
        ],
      },
    ]
    const { status, sent } = await send('openai-responses', 'openai-responses', { tools })
    expect([status, sent[0]?.tools]).toEqual([200, tools])
  })
})

/** Allowed for secret keys. */
const NOT_FOR_TOKENS: readonly Case[] = [
  ['openai-chat', { n: 128 }, 'n'],
  ['openai-chat', { n: 2 }, 'n'],
  ['anthropic-messages', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, 'tools[0]'],
  ['anthropic-messages', { tools: [{ type: 'tool_search_tool_bm25_20251119', name: 's' }] }, 'tools[0]'],
  ['openai-responses', { tools: [{ type: 'tool_search' }] }, 'tools[0]'],
]

describe('a client token', () => {
  const FILE = { type: 'input_file', file_id: 'file_of_others' }
  const KEPT: readonly Case[] = [
    ['openai-responses', { input: [{ role: 'assistant', content: [FILE] }] }, 'input[0].content[0].file_id'],
    [
      'openai-responses',
      {
        input: [
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', FILE_ID: 'f' }] },
        ],
      },
      'input[0].content[0].FILE_ID',
    ],
    ['openai-responses', { input: [{ role: 'user', content: [FILE] }] }, 'input[0].content[0].file_id'],
    [
      'openai-responses',
      {
        input: [
          {
            type: 'computer_call_output',
            call_id: 'c',
            output: { type: 'computer_screenshot', file_id: 'f' },
          },
        ],
      },
      'input[0].output.file_id',
    ],
    ['native', { provider_options: { groq: { store: true } } }, 'provider_options.groq.store'],
    ['native', { provider_options: { groq: { a: { Store: true } } } }, 'provider_options.groq.a.Store'],
    ['openai-chat', { extra_body: { store: true } }, 'extra_body.store'],
  ]

  test.each(NOT_FOR_TOKENS)(
    'may send this only where the environment allows passthrough: %s %j',
    async (format, fields, param) => {
      await set({ allow_client_passthrough: false })
      expect(await send(format, format, fields, harness.token)).toMatchObject({ ...REFUSED, param })
      const byKey = await send(format, format, fields)
      await set({ allow_client_passthrough: true })
      const allowed = await send(format, format, fields, harness.token)
      await set({ allow_client_passthrough: false })
      expect(allowed.status).toBe(byKey.status)
      expect(allowed.sent.length).toBe(byKey.sent.length)
    },
  )

  test.each(KEPT)(
    'may not use state at the provider, with and without passthrough: %s %j',
    async (format, fields, param) => {
      for (const allowed of [false, true]) {
        await set({ allow_client_passthrough: allowed })
        const target = format === 'native' ? 'openai-chat' : format
        expect(await send(format, target, fields, harness.token)).toMatchObject({ ...REFUSED, param })
      }
      await set({ allow_client_passthrough: false })
    },
  )

  test('may send n: 1 and a tool search that its client runs', async () => {
    expect((await send('openai-chat', 'openai-chat', { n: 1 }, harness.token)).status).toBe(200)
    const tools = [{ type: 'tool_search', execution: 'client', description: 'a', parameters: {} }]
    expect((await send('openai-responses', 'openai-responses', { tools }, harness.token)).status).toBe(200)
  })
})

test('a key with max_request_cost_usd is refused a web fetch, whose input cannot be counted', async () => {
  const { key } = await harness.app.createKey({ restrictions: { max_request_cost_usd: 1 } })
  const tools = [{ type: 'web_fetch_20250910', name: 'web_fetch' }]
  const outcome = await send('anthropic-messages', 'anthropic-messages', { tools }, key)
  expect(outcome).toMatchObject({ ...REFUSED, param: 'tools[0]' })
})

test.each([
  { image: { format: 'png', source: { S3Location: { uri: 's3://b/k' } } } },
  { image: { format: 'png', source: { bytes: 'QUJD', s3_location: { uri: 's3://b/k' } } } },
  { toolResult: { toolUseId: 't', content: [{ video: { format: 'mp4', source: { s3Location: {} } } }] } },
])("refuses %j, which names an object in the account's store", async block => {
  const messages = [{ role: 'user', content: [block] }]
  const outcome = await send('bedrock-converse', 'bedrock-converse', { messages })
  expect(outcome).toMatchObject({ ...REFUSED, param: expect.stringMatching(/source\.s3_?location$/i) })
})
