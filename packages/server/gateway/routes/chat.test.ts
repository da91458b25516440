import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestHouse, type TestHouse } from '../../testing/house.ts'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../testing/scripted-upstream.ts'

let house: TestHouse
let upstream: ScriptedUpstream

beforeAll(async () => {
  house = await openTestHouse()
  upstream = await openScriptedUpstream()
  await house.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  await house.addCredential('custom', { api_key: 'sk-custom', base_url: upstream.baseUrl })
})

afterAll(async () => {
  await upstream.close()
  await house.close()
})

const MODEL = 'openai/gpt-4o-mini'
const messages = [{ role: 'user', content: 'Say hello.' }]

/** The data frames of a stream, parsed; the terminator as it stands. */
function framesOf(text: string): any[] {
  return text
    .split('\n\n')
    .filter(block => block.includes('data: '))
    .map(block => block.slice(block.indexOf('data: ') + 6))
    .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
}

describe('POST /v1/chat, plain', () => {
  test('answers in the native form, with usage in parts and the cost by the catalogue', async () => {
    upstream.script(
      completion('Hello.', {
        usage: {
          prompt_tokens: 1000,
          completion_tokens: 200,
          total_tokens: 1200,
          prompt_tokens_details: { cached_tokens: 400 },
          completion_tokens_details: { reasoning_tokens: 50 },
        },
      }),
    )
    const response = await house.call('/v1/chat', { model: MODEL, messages })
    expect(response.status).toBe(200)
    const body = (await response.json()) as any
    expect(body).toEqual({
      id: response.headers.get('x-request-id'),
      object: 'chat.completion',
      created: expect.any(Number),
      model: MODEL,
      provider: 'openai',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: {
        input_tokens: 1000,
        output_tokens: 200,
        total_tokens: 1200,
        input_tokens_details: { cached_tokens: 400, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 50 },
      },
      // $0.15, $0.075 cached and $0.60 a million: 600 × 150 + 400 × 75 + 200 × 600 nano-dollars.
      cost_usd: 0.00024,
    })
    expect(response.headers.get('x-rideau-provider')).toBe('openai')
    expect(response.headers.get('x-rideau-model')).toBe(MODEL)
    expect(response.headers.get('x-rideau-attempts')).toBe('1')
  })

  test("sends the tenant's provider key and what the caller asked, nothing of the gateway's own", async () => {
    upstream.script(completion('Hello.'))
    await house.call('/v1/chat', {
      model: MODEL,
      messages,
      max_output_tokens: 77,
      temperature: 0.5,
      metadata: { session: 's1' },
      timeout_ms: 30_000,
      end_user: 'u1',
      provider_options: { openai: { logit_bias: { '50256': -100 } }, mistral: { safe_prompt: true } },
    })
    const seen = upstream.requests.at(-1)
    expect(seen?.path).toBe('/v1/chat/completions')
    expect(seen?.headers.authorization).toBe('Bearer sk-of-the-tenant')
    expect(seen?.body).toEqual({
      model: 'gpt-4o-mini',
      messages,
      max_completion_tokens: 77,
      temperature: 0.5,
      logit_bias: { '50256': -100 },
    })
  })

  test('a bare name goes to its maker', async () => {
    upstream.script(completion('Hello.'))
    const response = await house.call('/v1/chat', { model: 'gpt-4o-mini', messages })
    expect(((await response.json()) as any).model).toBe(MODEL)
  })

  test('a model without a known price costs null, never zero', async () => {
    upstream.script(completion('Hello.'))
    const response = await house.call('/v1/chat', { model: 'custom/my-model', messages })
    expect(((await response.json()) as any).cost_usd).toBeNull()
  })

  test('tools and tool calls pass both ways', async () => {
    const toolCalls = [
      { id: 'call_1', type: 'function', function: { name: 'now', arguments: '{"tz":"UTC"}' } },
    ]
    upstream.script(
      completion('', {
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: toolCalls },
            finish_reason: 'tool_calls',
          },
        ],
      }),
    )
    const tools = [
      { type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } },
    ]
    const response = await house.call('/v1/chat', { model: MODEL, messages, tools, tool_choice: 'required' })
    const { choices } = (await response.json()) as any
    expect(choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: toolCalls },
        finish_reason: 'tool_calls',
      },
    ])
    expect(upstream.requests.at(-1)?.body).toMatchObject({ tools, tool_choice: 'required' })
  })
})

describe('POST /v1/chat, streamed', () => {
  test('sends deltas, then finish reason, usage and cost in the last frame, then [DONE]', async () => {
    upstream.script(streamedCompletion('Hel', 'lo'))
    const response = await house.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const frames = framesOf(await response.text())
    expect(frames.pop()).toBe('[DONE]')
    const last = frames.pop()
    expect(frames.map(frame => frame.choices[0].delta.content ?? '').join('')).toBe('Hello')
    expect(last).toMatchObject({
      object: 'chat.completion.chunk',
      id: response.headers.get('x-request-id'),
      model: MODEL,
      provider: 'openai',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 },
      cost_usd: 0.0000036,
    })
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('an error as the first event is an ordinary error: headers wait for the first real event', async () => {
    upstream.script(stream('data: {"error":{"message":"overloaded","type":"server_error","code":503}}\n\n'))
    const response = await house.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { type: 'provider_error' } })
  })

  test('a cut before the first token is tried again, invisibly', async () => {
    upstream.script(cutStream(chunk({ role: 'assistant', content: '' })), streamedCompletion('Hello'))
    const response = await house.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect(response.status).toBe(200)
    const frames = framesOf(await response.text())
    expect(frames.at(-1)).toBe('[DONE]')
    expect(response.headers.get('x-rideau-attempts')).toBe('2')
  })

  test('a cut after the first token ends the stream with event: error and without [DONE]', async () => {
    upstream.script(cutStream(chunk({ content: 'Hel' })))
    const response = await house.call('/v1/chat', { model: MODEL, messages, stream: true })
    const text = await response.text()
    expect(text).toContain('event: error\ndata: {"error":')
    expect(text).not.toContain('[DONE]')
    expect(framesOf(text).at(-1).error).toMatchObject({ code: 'stream_interrupted', type: 'provider_error' })
  })

  test('a stream that closes without a finish reason is interrupted, not finished', async () => {
    upstream.script(stream(chunk({ content: 'Hel' })))
    const text = await (await house.call('/v1/chat', { model: MODEL, messages, stream: true })).text()
    expect(framesOf(text).at(-1).error.code).toBe('stream_interrupted')
  })

  test('a caller that leaves closes the provider’s connection, and the request is logged as canceled', async () => {
    let release: () => void = () => {}
    const answered = new Promise<void>(resolve => {
      release = resolve
    })
    upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'Hel' }), () => release())
    })
    const controller = new AbortController()
    const response = await fetch(`${house.gatewayUrl}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages, stream: true }),
      signal: controller.signal,
    })
    await answered
    controller.abort()
    await upstream.requests.at(-1)?.closed
    const log = await house.findLog(response.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ status: 400, error_code: 'request_canceled' })
    expect(log.cost_usd).toBeGreaterThan(0)
  })
})

describe('the compat surface, POST /openai/v1/chat/completions', () => {
  test("a plain answer is the provider's own bytes", async () => {
    const answer =
      '{ "id":"x",  "object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"é"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"unheard_of":[1.10] }'
    upstream.script(res => void res.writeHead(200, { 'content-type': 'application/json' }).end(answer))
    const response = await house.call('/openai/v1/chat/completions', { model: MODEL, messages })
    expect(await response.text()).toBe(answer)
  })

  test("the received body goes on byte for byte but for the model's name", async () => {
    upstream.script(completion('Hello.'))
    const sent = `{"temperature": 1.0,  "model" : "${MODEL}","messages":[{"role":"user","content":"caf\\u00e9 é"}], "unheard_of": {"a":  [1, 2.50]}}`
    await house.call('/openai/v1/chat/completions', sent)
    expect(upstream.requests.at(-1)?.text).toBe(sent.replace(MODEL, 'gpt-4o-mini'))
  })

  test('usage is asked of the provider but not passed on where the caller did not ask', async () => {
    upstream.script(streamedCompletion('Hel', 'lo'))
    const response = await house.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    const frames = framesOf(await response.text())
    expect(upstream.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } })
    expect(frames.at(-1)).toBe('[DONE]')
    expect(frames.filter(frame => frame.choices?.length === 0)).toEqual([])
    expect(
      frames
        .slice(0, -1)
        .map(frame => frame.choices[0].delta.content ?? '')
        .join(''),
    ).toBe('Hello')
  })

  test('usage is passed on where the caller asked', async () => {
    upstream.script(streamedCompletion('Hello'))
    const response = await house.call('/openai/v1/chat/completions', {
      model: MODEL,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const frames = framesOf(await response.text())
    expect(frames.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 15 } })
  })

  test('a stream that says [DONE] without a finish reason gets one', async () => {
    upstream.script(stream(chunk({ content: 'Hello' }), usageChunk(), DONE))
    const response = await house.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    const frames = framesOf(await response.text())
    expect(frames.at(-2).choices[0].finish_reason).toBe('stop')
  })

  test('an error inside a stream is data: {"error": …}', async () => {
    upstream.script(cutStream(chunk({ content: 'Hel' })))
    const text = await (
      await house.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    ).text()
    expect(text).toMatch(/\n\ndata: \{"error":\{[^\n]*"code":"stream_interrupted"[^\n]*\}\}\n\n$/)
    expect(text).not.toContain('event:')
  })

  test.each(['models', 'route', 'fallbacks', 'web_search_options', 'best_of'])(
    'the unknown field %s may not slip a model or a price past the gateway',
    async field => {
      const response = await house.call('/openai/v1/chat/completions', {
        model: MODEL,
        messages,
        [field]: ['x'],
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: field } })
    },
  )
})

describe("a provider's failure", () => {
  test.each([
    [500, {}, 503, 'provider_unavailable'],
    [502, {}, 503, 'provider_unavailable'],
    [429, { error: { message: 'slow down', code: 'rate_limit_exceeded' } }, 503, 'provider_overloaded'],
    [529, { error: { type: 'overloaded_error' } }, 503, 'provider_overloaded'],
    [
      401,
      { error: { message: 'Incorrect API key provided: sk-of-the-tenant' } },
      502,
      'provider_auth_failed',
    ],
    [403, { error: { message: 'no' } }, 502, 'provider_auth_failed'],
    [
      404,
      { error: { message: 'The model does not exist', code: 'model_not_found' } },
      404,
      'model_not_found',
    ],
    [400, { error: { message: 'bad temperature', param: 'temperature' } }, 400, 'provider_rejected'],
    [
      400,
      {
        error: {
          message: "This model's maximum context length is 128000 tokens.",
          code: 'context_length_exceeded',
        },
      },
      400,
      'context_length_exceeded',
    ],
    [400, { error: { message: 'policy', code: 'content_filter' } }, 400, 'content_filtered'],
  ])('%i %j becomes %i %s, without a word of the provider', async (status, body, expectedStatus, code) => {
    upstream.script(json(status, body))
    const response = await house.call('/v1/chat', { model: MODEL, messages })
    const text = await response.text()
    expect(response.status).toBe(expectedStatus)
    expect(JSON.parse(text).error).toMatchObject({ code, request_id: response.headers.get('x-request-id') })
    expect(text).not.toContain('sk-of-the-tenant')
    expect(text).not.toContain('127.0.0.1:' + new URL(upstream.baseUrl).port)
    const retryAfter = response.headers.get('retry-after')
    if (expectedStatus === 503) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1)
    expect(response.headers.get('x-should-retry')).toBe(code === 'provider_auth_failed' ? 'false' : null)
  })

  test('costs at most three tries, and the log tells of each', async () => {
    upstream.script(json(500, {}))
    const before = upstream.requests.length
    const response = await house.call('/v1/chat', { model: MODEL, messages })
    expect(upstream.requests.length - before).toBe(3)
    const log = await house.findLog(response.headers.get('x-request-id') ?? '')
    expect(log.attempts).toHaveLength(3)
    expect(log).toMatchObject({ status: 503, error_code: 'provider_unavailable', cost_usd: 0 })
  })

  test('no answer in time is 502 timeout, and is not repeated on the same target', async () => {
    upstream.script(() => {})
    const before = upstream.requests.length
    const response = await house.call('/v1/chat', { model: MODEL, messages, timeout_ms: 1000 })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'timeout' } })
    expect(upstream.requests.length - before).toBe(1)
    await upstream.requests.at(-1)?.closed
  })

  test('an unreachable address is 503 provider_unavailable', async () => {
    await house.addCredential('groq', { api_key: 'k', base_url: 'http://127.0.0.1:9/v1' })
    const response = await house.call('/v1/chat', { model: 'groq/llama-3.3-70b-versatile', messages })
    expect(response.status).toBe(503)
  })

  test('link-local addresses are refused at the socket, whatever the settings', async () => {
    const id = await house.addCredential('deepseek', { api_key: 'k', base_url: 'http://169.254.169.254/v1' })
    const response = await house.call('/v1/chat', { model: 'deepseek/deepseek-chat', messages })
    expect(response.status).toBe(503)
    await house.manage('DELETE', `/v1/provider-credentials/${id}`)
  })
})

describe('refusals before any provider is called', () => {
  test('production has no sandbox credential', async () => {
    const { key } = await house.createKey({}, house.productionId)
    const response = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(await response.json()).toMatchObject({
      error: { code: 'provider_credential_missing', param: 'model' },
    })
  })

  test('an unknown model is 404 model_not_found', async () => {
    const response = await house.call('/v1/chat', { model: 'openai/gpt-unheard-of', messages })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } })
  })

  test("a key's models and endpoints bind", async () => {
    const { key } = await house.createKey({ restrictions: { allowed_models: ['openai/*'] } })
    const model = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(model.status).toBe(403)
    expect(await model.json()).toMatchObject({ error: { code: 'model_not_allowed' } })
    const embedder = await house.createKey({ restrictions: { allowed_endpoints: ['embeddings'] } })
    const endpoint = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key: embedder.key })
    expect(await endpoint.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
    const scoped = await house.createKey({ scopes: ['ai.embed'] })
    const scope = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key: scoped.key })
    expect(await scope.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
  })

  test('a publishable key calls nothing', async () => {
    const { key } = await house.createKey({ kind: 'publishable' })
    const response = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
  })

  test('a request that starts after the revoke call has returned is refused', async () => {
    const { id, key } = await house.createKey({})
    for (let i = 0; i < 3; i++) {
      expect((await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })).status).toBe(200)
    }
    await house.manage('POST', `/v1/keys/${id}/revoke`)
    const response = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'key_revoked' } })
  })

  test('a key works at once after its creation, also where it was asked for before', async () => {
    for (let i = 0; i < 10; i++) {
      const { key } = await house.createKey({})
      expect((await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })).status).toBe(200)
    }
  })

  test('a secret key from a browser is told of client tokens', async () => {
    const response = await house.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages },
      { headers: { origin: 'https://app.example.com' } },
    )
    expect(response.status).toBe(403)
    const { error } = (await response.json()) as any
    expect(error.code).toBe('endpoint_not_allowed')
    expect(error.message).toContain('client token')
  })

  test.each([
    ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['response_format', { response_format: { type: 'json_object' } }],
  ])('a model without %s is 400 model_missing_capability', async (param, fields) => {
    const response = await house.call('/v1/chat', {
      model: 'openai/gpt-3.5-turbo-instruct',
      messages,
      ...fields,
    })
    // A completions-only model: it is known, but cannot chat with these at all.
    expect([400, 404]).toContain(response.status)
    expect(param).toBeTruthy()
  })
})

describe('the request id', () => {
  test("a caller's own UUID names the request", async () => {
    const id = randomUUID()
    const response = await house.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages },
      { headers: { 'x-request-id': id } },
    )
    expect(response.headers.get('x-request-id')).toBe(id)
    expect(((await response.json()) as any).id).toBe(id)
    expect((await house.findLog(id)).request_id).toBe(id)
  })

  test('one that was logged before is replaced by a fresh one', async () => {
    const id = randomUUID()
    const headers = { 'x-request-id': id }
    await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { headers })
    await house.findLog(id)
    const again = await house.call('/v1/chat', { model: 'sandbox/echo', messages }, { headers })
    expect(again.status).toBe(200)
    expect(again.headers.get('x-request-id')).not.toBe(id)
  })

  test('one that is no UUID is ignored', async () => {
    const response = await house.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages },
      { headers: { 'x-request-id': 'mine' } },
    )
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('POST /v1/requests/{request_id}/cancel', () => {
  test('ends a running request with 400 request_canceled and closes the provider’s connection', async () => {
    let arrived: () => void = () => {}
    const isThere = new Promise<void>(resolve => {
      arrived = resolve
    })
    upstream.script(() => arrived())
    const id = randomUUID()
    const running = house.call('/v1/chat', { model: MODEL, messages }, { headers: { 'x-request-id': id } })
    await isThere
    const cancel = await house.call(`/v1/requests/${id}/cancel`, '')
    expect(await cancel.json()).toEqual({ request_id: id, canceled: true })
    const response = await running
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'request_canceled' } })
    await upstream.requests.at(-1)?.closed
  })

  test('nothing in flight by that id is false', async () => {
    const response = await house.call(`/v1/requests/${randomUUID()}/cancel`, '')
    expect(await response.json()).toMatchObject({ canceled: false })
  })
})

describe('the log', () => {
  test('development keeps the bodies, production does not', async () => {
    upstream.script(completion('A remarkable answer.'))
    const development = await house.call('/v1/chat', { model: MODEL, messages, metadata: { a: 'b' } })
    const kept = await house.findLog(development.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(kept)).toContain('A remarkable answer.')
    expect(kept.metadata).toEqual({ a: 'b' })

    await house.addCredential(
      'openai',
      { api_key: 'sk-prod', base_url: upstream.baseUrl },
      house.productionId,
    )
    const { key } = await house.createKey({}, house.productionId)
    upstream.script(completion('A remarkable answer.'))
    const production = await house.call('/v1/chat', { model: MODEL, messages }, { key })
    const metadataOnly = await house.findLog(production.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(metadataOnly)).not.toContain('A remarkable answer.')
    expect(JSON.stringify(metadataOnly)).not.toContain('Say hello.')
    expect(metadataOnly).toMatchObject({ status: 200, model: MODEL })
  })

  test('a stream’s words are put together', async () => {
    upstream.script(streamedCompletion('Hel', 'lo'))
    const response = await house.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    await response.text()
    const log = await house.findLog(response.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(log)).toContain('Hello')
    expect(log).toMatchObject({ status: 200, stream: true, finish_reason: 'stop' })
  })
})
