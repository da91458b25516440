import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  openScriptedUpstream,
  type ScriptedUpstream,
  stream,
  streamedCompletion,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  app = await openTestApp()
  upstream = await openScriptedUpstream()
  await app.addCredential('openai', { api_key: 'sk-of-the-tenant', base_url: upstream.baseUrl })
  await app.addCredential('custom', { api_key: 'sk-custom', base_url: upstream.baseUrl })
})

afterAll(async () => {
  await upstream.close()
  await app.close()
})

const MODEL = 'openai/gpt-4o-mini'
const messages = [{ role: 'user', content: 'Say hello.' }]

/** Returns the data frames of a stream, parsed, and the terminator unparsed. */
function framesOf(text: string): any[] {
  return text
    .split('\n\n')
    .filter(block => block.includes('data: '))
    .map(block => block.slice(block.indexOf('data: ') + 6))
    .map(data => (data === '[DONE]' ? data : JSON.parse(data)))
}

describe('POST /v1/chat, plain', () => {
  test("answers in the native format, with separate usage parts and the catalogue's cost", async () => {
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
    const response = await app.call('/v1/chat', { model: MODEL, messages })
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
      // $0.15, $0.075 cached and $0.60 per million: 600 × 150 + 400 × 75 + 200 × 600 nano-dollars.
      cost_usd: 0.00024,
    })
    expect(response.headers.get('x-rideau-provider')).toBe('openai')
    expect(response.headers.get('x-rideau-model')).toBe(MODEL)
    expect(response.headers.get('x-rideau-attempts')).toBe('1')
  })

  test("sends the tenant's provider key and the caller's fields, and no header of the gateway", async () => {
    upstream.script(completion('Hello.'))
    await app.call('/v1/chat', {
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

  test('sends no reasoning_effort for "none" of a model that cannot reason, and names nothing as dropped', async () => {
    upstream.script(completion('Hello.'))
    const response = await app.call('/v1/chat', { model: MODEL, messages, reasoning_effort: 'none' })
    expect([response.status, response.headers.get('x-rideau-dropped-params')]).toEqual([200, null])
    expect(upstream.requests.at(-1)?.body).toEqual({ model: 'gpt-4o-mini', messages })
  })

  test('sends a bare name to its maker', async () => {
    upstream.script(completion('Hello.'))
    const response = await app.call('/v1/chat', { model: 'gpt-4o-mini', messages })
    expect(((await response.json()) as any).model).toBe(MODEL)
  })

  test('reports a null cost, never zero, for a model without a known price', async () => {
    upstream.script(completion('Hello.'))
    const response = await app.call('/v1/chat', { model: 'custom/my-model', messages })
    expect(((await response.json()) as any).cost_usd).toBeNull()
  })

  test('refuses an answer of more than 2,048 details of reasoning, over all choices, with 503 provider_unavailable', async () => {
    const toChoice = (index: number, count: number): object => ({
      index,
      message: {
        role: 'assistant',
        content: 'hello',
        reasoning_details: Array(count).fill({ type: 'reasoning.encrypted', data: 'a' }),
      },
      finish_reason: 'stop',
    })
    upstream.script(completion('', { choices: [toChoice(0, 2_047), toChoice(1, 1)] }))
    expect((await app.call('/v1/chat', { model: 'custom/m', messages })).status).toBe(200)
    upstream.script(completion('', { choices: [toChoice(0, 2_047), toChoice(1, 2)] }))
    const refused = await app.call('/v1/chat', { model: 'custom/m', messages })
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { code: 'provider_unavailable' } })
  })

  test('passes tools and tool calls in both directions', async () => {
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
    const response = await app.call('/v1/chat', { model: MODEL, messages, tools, tool_choice: 'required' })
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
    const response = await app.call('/v1/chat', { model: MODEL, messages, stream: true })
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

  test('answers an error as the first event with an error status, since the head waits for the first meaningful event', async () => {
    upstream.script(stream('data: {"error":{"message":"overloaded","type":"server_error","code":503}}\n\n'))
    const response = await app.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: { type: 'provider_error' } })
  })

  test('repeats the attempt unnoticed if the stream breaks before the first token', async () => {
    upstream.script(cutStream(chunk({ role: 'assistant', content: '' })), streamedCompletion('Hello'))
    const response = await app.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect(response.status).toBe(200)
    const frames = framesOf(await response.text())
    expect(frames.at(-1)).toBe('[DONE]')
    expect(response.headers.get('x-rideau-attempts')).toBe('2')
  })

  test.each([
    ['[DONE] alone', stream(DONE)],
    ['a role and [DONE]', stream(chunk({ role: 'assistant', content: '' }), DONE)],
    ['nothing', stream()],
  ])('repeats the attempt unnoticed if the stream has %s', async (_title, empty) => {
    upstream.script(empty, streamedCompletion('Hello'))
    const response = await app.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect(response.headers.get('x-rideau-attempts')).toBe('2')
    expect(await response.text()).toContain('Hello')
  })

  test('answers 502 stream_interrupted if every attempt gets an empty stream', async () => {
    upstream.script(stream(DONE), stream(DONE), stream(DONE))
    const response = await app.call('/v1/chat', { model: MODEL, messages, stream: true })
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([
      502,
      'stream_interrupted',
    ])
  })

  test('ends the stream with event: error and without [DONE] if it breaks after the first token', async () => {
    upstream.script(cutStream(chunk({ content: 'Hel' })))
    const response = await app.call('/v1/chat', { model: MODEL, messages, stream: true })
    const text = await response.text()
    expect(text).toContain('event: error\ndata: {"error":')
    expect(text).not.toContain('[DONE]')
    expect(framesOf(text).at(-1).error).toMatchObject({ code: 'stream_interrupted', type: 'provider_error' })
  })

  test('reports a stream without a finish reason as interrupted', async () => {
    upstream.script(stream(chunk({ content: 'Hel' })))
    const text = await (await app.call('/v1/chat', { model: MODEL, messages, stream: true })).text()
    expect(framesOf(text).at(-1).error.code).toBe('stream_interrupted')
  })

  test("closes the provider's connection when the caller disconnects, and logs the request as canceled", async () => {
    let release: () => void = () => {}
    const answered = new Promise<void>(resolve => {
      release = resolve
    })
    upstream.script(res => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write(chunk({ content: 'Hel' }), () => release())
    })
    const controller = new AbortController()
    const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages, stream: true }),
      signal: controller.signal,
    })
    await answered
    controller.abort()
    await upstream.requests.at(-1)?.closed
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log).toMatchObject({ status: 400, error_code: 'request_canceled' })
    expect(log.cost_usd).toBeGreaterThan(0)
  })
})

describe("OpenAI's format, POST /openai/v1/chat/completions", () => {
  test("answers with the provider's own bytes", async () => {
    const answer =
      '{ "id":"x",  "object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"é"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"unheard_of":[1.10] }'
    upstream.script(res => void res.writeHead(200, { 'content-type': 'application/json' }).end(answer))
    const response = await app.call('/openai/v1/chat/completions', { model: MODEL, messages })
    expect(await response.text()).toBe(answer)
  })

  test("sends the received body unchanged except for the model's name", async () => {
    upstream.script(completion('Hello.'))
    const sent = `{"temperature": 1.0,  "model" : "${MODEL}","messages":[{"role":"user","content":"caf\\u00e9 é"}], "unheard_of": {"a":  [1, 2.50]}}`
    await app.call('/openai/v1/chat/completions', sent)
    expect(upstream.requests.at(-1)?.text).toBe(sent.replace(MODEL, 'gpt-4o-mini'))
  })

  test('asks the provider for usage and removes it if the caller did not ask', async () => {
    upstream.script(streamedCompletion('Hel', 'lo'))
    const response = await app.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
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

  test('passes usage on if the caller asked', async () => {
    upstream.script(streamedCompletion('Hello'))
    const response = await app.call('/openai/v1/chat/completions', {
      model: MODEL,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    const frames = framesOf(await response.text())
    expect(frames.at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 15 } })
  })

  test('adds a finish reason to a stream that has only [DONE]', async () => {
    upstream.script(stream(chunk({ content: 'Hello' }), usageChunk(), DONE))
    const response = await app.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    const frames = framesOf(await response.text())
    expect(frames.at(-2).choices[0].finish_reason).toBe('stop')
  })

  test('sends an error within a stream as data: {"error": …}', async () => {
    upstream.script(cutStream(chunk({ content: 'Hel' })))
    const text = await (
      await app.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    ).text()
    expect(text).toMatch(/\n\ndata: \{"error":\{[^\n]*"code":"stream_interrupted"[^\n]*\}\}\n\n$/)
    expect(text).not.toContain('event:')
  })

  test('a search by web_search_options, whose price is unknown, is left out', async () => {
    upstream.script(completion('Hello'))
    const fields = { model: MODEL, messages, web_search_options: { search_context_size: 'high' } }
    const response = await app.call('/openai/v1/chat/completions', fields)
    expect([response.status, response.headers.get('x-rideau-dropped-params')]).toEqual([
      200,
      'web_search_options',
    ])
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('web_search_options')
  })

  test.each(['models', 'route', 'fallbacks', 'best_of'])(
    'the unknown field %s cannot bypass the check of model and price',
    async field => {
      const response = await app.call('/openai/v1/chat/completions', {
        model: MODEL,
        messages,
        [field]: ['x'],
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: field } })
    },
  )
})
