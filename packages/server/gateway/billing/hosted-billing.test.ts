import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageItem, responseFrames, responseOf } from '../../testing/fakes/scripted-responses.ts'
import { cutStream, json, streamedCompletion } from '../../testing/fakes/scripted-upstream.ts'
import { type FormatHarness, openFormatHarness } from '../../testing/harness/format-harness.ts'

/** Tools that a provider runs: sent where their price is known, reserved, billed by use, and left out elsewhere. */

let harness: FormatHarness

beforeAll(async () => {
  harness = await openFormatHarness()
})

afterAll(() => harness.close())

const MODEL = 'openai/gpt-5.4'
const SEARCH = { type: 'web_search', external_web_access: true }
const FUNCTION = {
  type: 'function',
  name: 'f',
  parameters: { type: 'object', properties: {} },
  strict: false,
}
const searched = (type: string): Record<string, unknown> => ({
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type, query: 'x' },
})

async function costOf(response: Response): Promise<number> {
  expect(response.status).toBe(200)
  await response.text()
  const log = await harness.app.findLog(response.headers.get('x-request-id') ?? '')
  return Number(log.cost_usd)
}

const ask = (body: object, key?: string): Promise<Response> =>
  harness.app.call(
    '/openai/v1/responses',
    { model: MODEL, input: 'x', ...body },
    key === undefined ? {} : { key },
  )

test('a search is sent unchanged, and each one is billed besides the tokens, plain and streamed', async () => {
  harness.upstream.script(responseOf(messageItem('x')))
  const usual = await costOf(await ask({ tools: [FUNCTION] }))
  harness.upstream.script(
    responseOf(searched('search'), searched('open_page'), searched('search'), messageItem('x')),
  )
  const plain = await ask({ tools: [SEARCH, FUNCTION] })
  expect(plain.headers.get('x-rideau-dropped-params')).toBeNull()
  expect(harness.upstream.requests.at(-1)?.body.tools).toEqual([SEARCH, FUNCTION])
  expect(await costOf(plain)).toBeCloseTo(usual + 0.02, 9)
  harness.upstream.script(streamOf(searched('search'), messageItem('x')))
  expect(await costOf(await ask({ tools: [SEARCH], stream: true }))).toBeCloseTo(usual + 0.01, 9)
})

test('a search of a stream that breaks off is billed', async () => {
  const frames = responseFrames(searched('search'), messageItem('a few words of text'))
  harness.upstream.script(cutStream(...frames.slice(0, -2)))
  const response = await ask({ tools: [SEARCH], stream: true })
  expect(await costOf(response)).toBeGreaterThan(0.01)
})

test('a tool without a known price is left out and named, whatever the setting, and so is the choice of it', async () => {
  for (const unsupported of ['refuse', 'drop']) {
    await harness.set({ unsupported_params: unsupported })
    harness.upstream.script(responseOf(messageItem('x')))
    const response = await ask({
      tools: [{ type: 'image_generation' }, { type: 'web_search_preview' }],
      tool_choice: 'auto',
      parallel_tool_calls: true,
    })
    expect(response.headers.get('x-rideau-dropped-params')).toBe('tools[0], tools[1]')
    const sent = harness.upstream.requests.at(-1)?.body
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) expect(sent).not.toHaveProperty(name)
  }
  await harness.set({ unsupported_params: 'refuse' })
})

test('a tool that an item brings is left out of the item', async () => {
  harness.upstream.script(responseOf(messageItem('x')))
  const item = {
    type: 'additional_tools',
    role: 'developer',
    tools: [{ type: 'image_generation' }, FUNCTION],
  }
  const user = { role: 'user', content: 'x' }
  const response = await ask({ input: [item, user] })
  expect(response.headers.get('x-rideau-dropped-params')).toBe('input[0].tools[0]')
  expect(harness.upstream.requests.at(-1)?.body.input).toEqual([{ ...item, tools: [FUNCTION] }, user])
})

test('Claude searches for a price, and its choice is left out with it at other providers', async () => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }]
  const body = { max_tokens: 100, messages: [{ role: 'user', content: 'x' }], tools }
  const choice = { tool_choice: { type: 'tool', name: 'web_search' } }
  const usage = { input_tokens: 10, output_tokens: 2 }
  const answer = (fields: object) =>
    json(200, {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: { ...usage, ...fields },
    })
  const model = 'anthropic/claude-opus-4-8'
  harness.upstream.script(answer({}))
  const usual = await costOf(await harness.app.call('/anthropic/v1/messages', { model, ...body }))
  harness.upstream.script(answer({ server_tool_use: { web_search_requests: 3 } }))
  const response = await harness.app.call('/anthropic/v1/messages', { model, ...body, ...choice })
  expect(harness.upstream.requests.at(-1)?.body).toMatchObject({ tools, ...choice })
  expect(await costOf(response)).toBeCloseTo(usual + 0.03, 9)
  harness.upstream.script(streamedCompletion('x'))
  const other = { model: 'groq/llama-3.3-70b-versatile', ...body, ...choice, stream: true }
  const elsewhere = await harness.app.call('/anthropic/v1/messages', other)
  expect(elsewhere.headers.get('x-rideau-dropped-params')).toBe('tools[0], tool_choice')
  await elsewhere.text()
})

test('Gemini searches by its own price', async () => {
  const answer = (queries: string[]) =>
    json(200, {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'x' }] },
          finishReason: 'STOP',
          groundingMetadata: { webSearchQueries: queries },
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
    })
  const body = { contents: [{ role: 'user', parts: [{ text: 'x' }] }], tools: [{ googleSearch: {} }] }
  const route = '/gemini/v1beta/models/gemini%2Fgemini-3-flash-preview:generateContent'
  harness.upstream.script(answer(['']))
  const usual = await costOf(await harness.app.call(route, body))
  expect(harness.upstream.requests.at(-1)?.body.tools).toEqual(body.tools)
  harness.upstream.script(answer(['a', 'b', '']))
  expect(await costOf(await harness.app.call(route, body))).toBeCloseTo(usual + 0.028, 9)
})

test('a key with max_request_cost_usd gets no search, because it adds unbounded input', async () => {
  const { key } = await harness.app.createKey({ restrictions: { max_request_cost_usd: 1 } })
  harness.upstream.script(responseOf(messageItem('x')))
  const response = await ask({ tools: [SEARCH, FUNCTION] }, key)
  expect(response.headers.get('x-rideau-dropped-params')).toBe('tools[0]')
  expect(harness.upstream.requests.at(-1)?.body.tools).toEqual([FUNCTION])
})

test('a client token may search only where the environment allows passthrough', async () => {
  const refused = await ask({ tools: [SEARCH] }, harness.token)
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { code: 'invalid_request', param: 'tools[0]' } })
  await harness.set({ allow_client_passthrough: true })
  harness.upstream.script(responseOf(messageItem('x')))
  const allowed = await ask({ tools: [SEARCH] }, harness.token)
  await harness.set({ allow_client_passthrough: false })
  expect(allowed.status).toBe(200)
  expect(harness.upstream.requests.at(-1)?.body.tools).toEqual([SEARCH])
})

test('the reservation covers the searches that a request allows', async () => {
  const { app } = harness
  const budget = { limit_usd: 0.2, window: 'day', scope: 'environment', scope_ref: app.developmentId }
  const created = await app.manage('POST', `/v1/projects/${app.projectId}/budgets`, budget)
  expect(created.status).toBe(201)
  const { id } = created.body as { id: string }
  try {
    const body = { tools: [SEARCH], max_output_tokens: 16 }
    const refused = await ask({ ...body, max_tool_calls: 100 })
    expect([refused.status, ((await refused.json()) as any).error.code]).toEqual([402, 'budget_exceeded'])
    harness.upstream.script(responseOf(messageItem('x')))
    expect((await ask({ ...body, max_tool_calls: 1 })).status).toBe(200)
  } finally {
    await app.manage('DELETE', `/v1/budgets/${id}`)
  }
})

function streamOf(...output: Record<string, unknown>[]) {
  const frames = responseFrames(...output)
  return (res: Parameters<ReturnType<typeof cutStream>>[0]) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.end(frames.join(''))
  }
}
