import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messageItem, responseOf } from '../../../testing/fakes/scripted-responses.ts'
import {
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../../testing/harness/playground-token.ts'

/** OpenAI's compaction of a conversation. */

let app: TestApp
let upstream: ScriptedUpstream
let client: OpenAI

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  for (const provider of ['openai', 'anthropic', 'groq']) {
    await app.addCredential(provider, { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  }
  client = new OpenAI({ baseURL: `${app.gatewayUrl}/openai/v1`, apiKey: app.secretKey, maxRetries: 0 })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const ROUTE = '/openai/v1/responses/compact'
const MODEL = 'openai/gpt-5.4'
const COMPACTION = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA' }
const COMPACTED = {
  id: 'resp_1',
  object: 'response.compaction',
  created_at: 1_700_000_000,
  output: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }, COMPACTION],
  usage: {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 400 },
    output_tokens: 200,
    output_tokens_details: { reasoning_tokens: 50 },
    total_tokens: 1200,
  },
}
const INPUT = [
  { role: 'user', content: 'hi' },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
  { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
]
const COST_USD = (600 * 2.5 + 400 * 0.25 + 200 * 15) / 1e6

const compact = (fields: object = {}, options = {}): Promise<Response> =>
  app.call(ROUTE, { model: MODEL, input: INPUT, ...fields }, options)
const answerOf = async (response: Response): Promise<any> => response.json()
const sent = () => upstream.requests.at(-1)

async function refusal(response: Response): Promise<{ status: number; code: string; param: string }> {
  const { error } = await answerOf(response)
  return { status: response.status, code: error.code, param: error.param }
}

describe('a compaction at OpenAI', () => {
  test('goes out as it came, comes back as it is, and is billed by its usage', async () => {
    upstream.script(json(200, COMPACTED))
    const fields = {
      instructions: 'Be brief.',
      prompt_cache_key: 'k',
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      parallel_tool_calls: true,
      reasoning: { effort: 'low' },
    }
    const response = await compact(fields)
    expect(await answerOf(response)).toEqual(COMPACTED)
    expect(sent()?.path).toBe('/v1/responses/compact')
    expect(sent()?.body).toEqual({ model: 'gpt-5.4', input: INPUT, ...fields })
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log).toMatchObject({
      status: 200,
      endpoint: 'chat',
      model: 'openai/gpt-5.4',
      usage: { input_tokens: 1000, output_tokens: 200 },
    })
    expect(log.cost_usd).toBeCloseTo(COST_USD, 9)
  })

  test('is what the official client calls, and its item goes into the next request', async () => {
    upstream.script(json(200, COMPACTED), responseOf(messageItem('Hello again.')))
    const { output } = await client.responses.compact({ model: 'gpt-5.4', input: 'hi' })
    const next = await client.responses.create({ model: 'gpt-5.4', input: output as never, store: false })
    expect(next.output_text).toBe('Hello again.')
    expect(sent()?.body).toMatchObject({ input: COMPACTED.output })
  })

  test('is found below the prefix of Ollama too', async () => {
    upstream.script(json(200, COMPACTED))
    const response = await app.call('/ollama/v1/responses/compact', { model: MODEL, input: 'hi' })
    expect([response.status, sent()?.path]).toEqual([200, '/v1/responses/compact'])
  })

  test('may take its input from a stored response for a secret key', async () => {
    upstream.script(json(200, COMPACTED))
    const response = await app.call(ROUTE, { model: MODEL, previous_response_id: 'resp_0' })
    expect(response.status).toBe(200)
    expect(sent()?.body).toEqual({ model: 'gpt-5.4', previous_response_id: 'resp_0' })
  })

  test('is never stored for a client token, which may not refer to what is stored', async () => {
    const key = await makePlaygroundToken(app)
    upstream.script(json(200, COMPACTED))
    expect((await compact({}, { key })).status).toBe(200)
    expect(sent()?.body).toEqual({ model: 'gpt-5.4', input: INPUT })
    const before = upstream.requests.length
    for (const [fields, param] of [
      [{ previous_response_id: 'resp_0' }, 'previous_response_id'],
      [{ conversation: 'conv_0' }, 'conversation'],
      [{ input: [{ type: 'item_reference', id: 'rs_0' }] }, 'input[0]'],
      [{ novelty: 1 }, 'novelty'],
    ] as const) {
      expect(await refusal(await compact(fields, { key }))).toMatchObject({ status: 400, param })
    }
    expect(upstream.requests.length).toBe(before)
  })

  test('is answered again for its Idempotency-Key, apart from a response of the same body and key', async () => {
    upstream.script(json(200, COMPACTED), responseOf(messageItem('Hello.')))
    const headers = { 'idempotency-key': 'compaction' }
    const asked = { model: MODEL, input: 'hi', store: false }
    const first = await app.call(ROUTE, { model: MODEL, input: 'hi' }, { headers })
    const again = await app.call(ROUTE, { model: MODEL, input: 'hi' }, { headers })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(await first.text())
    const other = await app.call('/openai/v1/responses', asked, { headers })
    expect([other.status, (await answerOf(other)).object]).toEqual([200, 'response'])
  })

  test('stops when it is canceled', async () => {
    let arrived = (): void => {}
    const arriving = new Promise<void>(resolve => {
      arrived = resolve
    })
    upstream.script(() => arrived())
    const id = crypto.randomUUID()
    const running = compact({}, { headers: { 'x-request-id': id } })
    await arriving
    const canceled = await app.call(`/v1/requests/${id}/cancel`, {})
    expect(await answerOf(canceled)).toMatchObject({ canceled: true })
    expect((await refusal(await running)).code).toBe('request_canceled')
    await sent()?.closed
  })

  test('passes on the error of a server without the route as any other', async () => {
    upstream.script(json(400, { error: { message: 'No such input.', type: 'invalid_request_error' } }))
    expect(await refusal(await compact())).toMatchObject({ status: 400, code: 'provider_rejected' })
    upstream.script(json(200, { id: 'x' }))
    expect((await compact()).status).toBeGreaterThanOrEqual(500)
  })
})

describe('limits of a compaction', () => {
  const limitsUrl = () => `/v1/environments/${app.developmentId}/limits`

  test('hold the model’s whole maximum, since no field caps the answer', async () => {
    upstream.script(json(200, COMPACTED))
    const limit = { scope: 'environment', metric: 'tokens', limit: 128_900, window_seconds: 60 }
    const made = await app.manage('POST', limitsUrl(), limit)
    const first = await compact()
    expect(first.headers.get('x-rideau-output-cap')).toBeNull()
    expect(first.status).toBe(200)
    expect(sent()?.body).not.toHaveProperty('max_output_tokens')
    // 1,200 tokens are used, so the maximum of 128,000 does not fit again.
    expect((await refusal(await compact())).code).toBe('rate_limit_exceeded')
    await app.manage('DELETE', `/v1/limits/${made.body.id}`)
  })

  test('reserve the price of the maximum output if they are budgets', async () => {
    upstream.script(json(200, COMPACTED))
    const budgets = `/v1/projects/${app.projectId}/budgets`
    const spent = async (): Promise<number> => {
      const made = await app.manage('POST', budgets, { window: 'total', limit_usd: 1.9 })
      const { status } = await compact()
      await app.manage('DELETE', `/v1/budgets/${made.body.id}`)
      return status
    }
    // 128,000 tokens of output at $15 per million are $1.92.
    expect(await spent()).toBe(402)
    const made = await app.manage('POST', budgets, { window: 'total', limit_usd: 2 })
    const response = await compact()
    expect(response.status).toBe(200)
    const log = await app.findLog(response.headers.get('x-request-id') as string)
    expect(log.cost_usd).toBeCloseTo(COST_USD, 9)
    await app.manage('DELETE', `/v1/budgets/${made.body.id}`)
  })

  test("include the key's bound on one request, which must cover the maximum output", async () => {
    upstream.script(json(200, COMPACTED))
    const dear = await app.createKey({ restrictions: { max_request_cost_usd: 1.9 } })
    const param = 'restrictions.max_request_cost_usd'
    expect(await refusal(await compact({}, { key: dear.key }))).toEqual({
      status: 402,
      code: 'budget_exceeded',
      param,
    })
    const enough = await app.createKey({ restrictions: { max_request_cost_usd: 2 } })
    expect((await compact({}, { key: enough.key })).status).toBe(200)
    expect(sent()?.body).not.toHaveProperty('max_output_tokens')
    const stored = await compact({ previous_response_id: 'resp_0' }, { key: enough.key })
    expect((await refusal(stored)).param).toBe('previous_response_id')
  })

  test('need a known maximum, which a custom model can give', async () => {
    upstream.script(json(200, COMPACTED))
    const model = 'openai/gpt-of-tomorrow'
    expect(await refusal(await compact({ model }))).toEqual({
      status: 400,
      code: 'model_missing_capability',
      param: 'model',
    })
    const made = await app.manage('POST', `/v1/environments/${app.developmentId}/custom-models`, {
      model,
      capabilities: ['chat'],
      context_window: 400_000,
      max_output_tokens: 64_000,
      pricing: null,
    })
    expect(made.status).toBe(201)
    expect((await compact({ model })).status).toBe(200)
    await app.manage('DELETE', `/v1/custom-models/${made.body.id}`)
  })
})

describe('refuses', () => {
  test.each(['anthropic/claude-haiku-4-5', 'groq/llama-3.3-70b-versatile', 'sandbox/echo'])(
    'the model %s, and says that its provider cannot compact',
    async model => {
      const before = upstream.requests.length
      const response = await compact({ model })
      const { error } = await answerOf(response)
      expect(error).toMatchObject({ code: 'model_missing_capability', param: 'model' })
      expect(error.message).toContain('cannot compact conversations')
      expect(upstream.requests.length).toBe(before)
    },
  )

  test.each<[string, object, string]>([
    ['a stream', { stream: true }, 'stream'],
    ['a cap, which the provider does not know', { max_output_tokens: 100 }, 'max_output_tokens'],
    ['a list of models', { models: ['x'] }, 'models'],
    ['another tier', { service_tier: 'priority' }, 'service_tier'],
    ['work in the background', { background: true }, 'background'],
    ['no input', { input: null }, 'input'],
    ['a connector', { tools: [{ type: 'mcp', server_url: 'https://a.example' }] }, 'tools[0]'],
  ])('%s', async (_, fields, param) => {
    const before = upstream.requests.length
    expect(await refusal(await compact(fields))).toEqual({ status: 400, code: 'invalid_request', param })
    expect(upstream.requests.length).toBe(before)
  })

  test('a key that may not chat', async () => {
    const { key } = await app.createKey({ restrictions: { allowed_endpoints: ['embeddings'] } })
    expect((await refusal(await compact({}, { key }))).code).toBe('endpoint_not_allowed')
  })
})

test('an alias passes over targets that cannot compact', async () => {
  upstream.script(json(200, COMPACTED))
  const targets = [{ model: 'anthropic/claude-haiku-4-5' }, { model: MODEL }]
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, {
    alias: 'mine',
    strategy: 'priority',
    targets,
  })
  expect(made.status).toBe(201)
  const response = await compact({ model: 'mine' })
  expect([response.status, response.headers.get('x-rideau-model')]).toEqual([200, MODEL])
})
