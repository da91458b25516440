import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  usageChunk,
} from '../testing/fakes/scripted-upstream.ts'
import {
  openTraceCollector,
  type ReceivedSpan,
  type TraceCollector,
} from '../testing/fakes/trace-collector.ts'
import { openTestApp, type TestApp } from '../testing/harness/app.ts'
import { openTokenMint, type TokenMint } from '../testing/harness/token-mint.ts'

/** A whole app whose traces a collector receives. */
let app: TestApp
let first: ScriptedUpstream
let second: ScriptedUpstream
let collector: TraceCollector
let mint: TokenMint
beforeAll(async () => {
  collector = await openTraceCollector()
  const masterKey = randomBytes(32)
  app = await openTestApp({
    RIDEAU_MASTER_KEY: masterKey.toString('base64'),
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=platform%20team',
    OTEL_SERVICE_NAME: 'gateway',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '20',
  })
  mint = (await openTokenMint(app, masterKey)).mint
  first = await openScriptedUpstream()
  second = await openScriptedUpstream()
  await app.addCredential('custom', { api_key: 'canary-provider-key', base_url: first.baseUrl })
  await app.addCredential('custom-b', { api_key: 'k', base_url: second.baseUrl })
})
afterAll(async () => {
  await app.close()
  await first.close()
  await second.close()
  await collector.close()
})

const PROMPT = 'canary-prompt'
const messages = [{ role: 'user', content: PROMPT }]
const CALL = { model: 'custom/large', messages }
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

const idOf = (response: Response): string => response.headers.get('x-request-id') ?? ''
async function call(body: object, options: Parameters<TestApp['call']>[2] = {}, route = '/v1/chat') {
  const response = await app.call(route, body, options)
  const text = await response.text()
  return { status: response.status, text, spans: await collector.trace(idOf(response)) }
}
const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] =>
  spans.filter(span => span.name === name)
const one = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const [found, ...more] = named(spans, name)
  if (found === undefined || more.length > 0)
    throw new Error(`not one ${name}: ${spans.map(each => each.name)}`)
  return found
}

test('a plain chat has a span for the request, and below it identify, reserve, the attempt and settle', async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 5 },
  }
  first.script(completion('canary-answer', { usage }))
  const { status, spans } = await call({ ...CALL, user: 'canary-user', metadata: { note: 'canary-note' } })
  expect(status).toBe(200)
  expect(spans.map(span => [span.name, span.kind]).sort()).toEqual([
    ['POST /v1/chat', 2],
    ['chat large', 3],
    ['identify', 1],
    ['reserve', 1],
    ['settle', 1],
  ])
  const request = one(spans, 'POST /v1/chat')
  const { 'rideau.request.id': requestId, 'rideau.key.id': keyId, ...attributes } = request.attributes
  expect([requestId, keyId]).toEqual([expect.any(String), expect.any(String)])
  expect(attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/chat',
    'http.response.status_code': 200,
    'rideau.organization.id': app.orgId,
    'rideau.project.id': app.projectId,
    'rideau.environment.id': app.developmentId,
    'rideau.caller.kind': 'secret',
    'rideau.model.requested': 'custom/large',
  })
  expect([request.isError, request.parentSpanId]).toEqual([false, undefined])
  expect(request.resource).toMatchObject({
    'service.name': 'gateway',
    'service.instance.id': expect.any(String),
    'deployment.environment.name': 'test',
  })
  const attempt = one(spans, 'chat large')
  expect(attempt.attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'custom',
    'gen_ai.request.model': 'large',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.response.model': 'scripted-model',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 20,
    'gen_ai.usage.cache_read.input_tokens': 60,
    'gen_ai.usage.cache_creation.input_tokens': 0,
    'gen_ai.usage.reasoning.output_tokens': 5,
    'http.response.status_code': 200,
    'rideau.credential.id': expect.any(String),
  })
  for (const span of spans) {
    if (span !== request) expect(span.parentSpanId).toBe(request.spanId)
    expect(span.endAt >= span.startAt).toBe(true)
    expect(span.startAt >= request.startAt && span.endAt <= request.endAt).toBe(true)
  }
  expect(collector.requests.at(-1)).toMatchObject({
    path: '/v1/traces',
    headers: { 'x-team': 'platform team' },
  })
})

test('no export has a key, a token, content, an end user or an address that a tenant configured', async () => {
  first.script(completion('canary-answer'))
  const { id } = await app.createKey({})
  const token = mint({ id }, { sub: 'canary-user' })
  await call(CALL, { key: token })
  first.script(json(400, { error: { message: 'canary-answer' } }))
  await call({ ...CALL, user: 'canary-user' }, { headers: { 'x-note': 'canary-header' } })
  for (const model of ['canary-provider-key', 'of canary-provider-key', 'canary answer', 'm'.repeat(513)]) {
    first.script(json(200, { model, choices: [{ message: { content: 'x' } }] }))
    const { status, spans } = await call(CALL)
    expect(status).toBe(200)
    expect(one(spans, 'chat large').attributes).not.toHaveProperty('gen_ai.response.model')
  }
  const sent = Buffer.concat(collector.requests.map(({ body }) => body)).toString('utf8')
  expect(sent).toContain('chat large')
  expect(sent).not.toContain('canary')
  for (const secret of [app.secretKey, token, first.origin, new URL(first.origin).port, '127.0.0.1'])
    expect(sent).not.toContain(`"${secret}`)
})

test('a stream ends its spans at its last byte, and says when its first event came', async () => {
  let goOn = (): void => {}
  first.script(async res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ role: 'assistant', content: 'Hel' }))
    await new Promise<void>(resolve => {
      goOn = resolve
    })
    res.end(chunk({ content: 'lo' }) + chunk({}, 'stop') + usageChunk() + DONE)
  })
  const response = await app.call('/v1/chat', { ...CALL, stream: true })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  const readAt = BigInt(Date.now()) * 1_000_000n
  goOn()
  while (!(await reader.read()).done);
  const spans = await collector.trace(idOf(response))
  const attempt = one(spans, 'chat large')
  expect(attempt.attributes).toMatchObject({
    'gen_ai.request.stream': true,
    'gen_ai.response.model': 'scripted-model',
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
  })
  expect(attempt.endAt >= readAt - 5_000_000n).toBe(true)
  expect(one(spans, 'POST /v1/chat').endAt >= attempt.endAt).toBe(true)
})

test('a stream that breaks off is an error of its attempt and of the request, with the status that was sent', async () => {
  first.script(res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ role: 'assistant', content: 'Hel' }), () => setImmediate(() => res.destroy()))
  })
  const { spans } = await call({ ...CALL, stream: true })
  expect(one(spans, 'chat large')).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'stream_interrupted', 'rideau.usage.estimated': true },
  })
  expect(one(spans, 'POST /v1/chat')).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'stream_interrupted', 'http.response.status_code': 200 },
  })
})

test('a fallback has a span for each attempt, and each provider gets the traceparent of its own', async () => {
  const targets = [{ model: 'custom/large', max_retries: 0 }, { model: 'custom-b/small' }]
  const alias = { alias: 'both', strategy: 'priority', targets }
  expect(
    (await app.manage('POST', `/v1/environments/${app.developmentId}/model-aliases`, alias)).status,
  ).toBe(201)
  first.script(json(500, {}))
  second.script(completion('Hello.'))
  const { status, spans } = await call({ model: 'both', messages })
  expect(status).toBe(200)
  const failed = one(spans, 'chat large')
  const answered = one(spans, 'chat small')
  expect(failed).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'unavailable', 'http.response.status_code': 500 },
  })
  expect(failed.attributes).not.toHaveProperty('gen_ai.usage.input_tokens')
  expect(answered).toMatchObject({
    isError: false,
    attributes: { 'gen_ai.provider.name': 'custom-b', 'gen_ai.usage.input_tokens': 12 },
  })
  expect(one(spans, 'POST /v1/chat').isError).toBe(false)
  for (const [upstream, { traceId, spanId }] of [
    [first, failed],
    [second, answered],
  ] as const)
    expect(upstream.requests.at(-1)?.headers.traceparent).toBe(`00-${traceId}-${spanId}-01`)
})

test('a request that a limit refuses has a span of it that names the limit, and no attempt', async () => {
  const { id, key } = await app.createKey({})
  const limit = { scope: 'key', scope_ref: id, metric: 'requests', limit: 1, window_seconds: 60 }
  const made = await app.manage('POST', `/v1/environments/${app.developmentId}/limits`, limit)
  first.script(completion('Hello.'))
  await call(CALL, { key })
  const { status, spans } = await call(CALL, { key })
  expect(status).toBe(429)
  expect(spans.map(({ name }) => name).sort()).toEqual(['POST /v1/chat', 'identify', 'reserve', 'settle'])
  expect(one(spans, 'reserve').attributes).toEqual({
    'error.type': 'rate_limit_exceeded',
    'rideau.limit.id': made.body.id,
    'rideau.limit.kind': 'limit',
    'rideau.limit.scope': 'key',
    'rideau.limit.metric': 'requests',
  })
  // A refusal is the caller's business, by the conventions.
  expect(one(spans, 'POST /v1/chat')).toMatchObject({
    isError: false,
    attributes: { 'http.response.status_code': 429, 'error.type': 'rate_limit_exceeded' },
  })
})

test('an error of the provider is the error of the attempt and of the request', async () => {
  first.script(json(401, { error: { message: 'no' } }))
  const { status, spans } = await call(CALL)
  expect(status).toBe(502)
  expect(one(spans, 'chat large').attributes).toMatchObject({
    'error.type': 'auth',
    'http.response.status_code': 401,
  })
  expect(one(spans, 'POST /v1/chat')).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'provider_auth_failed', 'http.response.status_code': 502 },
  })
})

test('an embedding is named by its operation, and its provider as the conventions name it', async () => {
  await app.addCredential('mistral', { api_key: 'k', base_url: second.baseUrl })
  const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
  second.script(
    json(200, {
      object: 'list',
      model: 'mistral-embed-2312',
      data,
      usage: { prompt_tokens: 7, total_tokens: 7 },
    }),
  )
  const body = { model: 'mistral/mistral-embed', input: PROMPT }
  const { status, spans } = await call(body, {}, '/openai/v1/embeddings')
  expect(status).toBe(200)
  const { attributes } = one(spans, 'embeddings mistral-embed')
  expect(attributes).toMatchObject({
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.provider.name': 'mistral_ai',
    'gen_ai.response.model': 'mistral-embed-2312',
    'gen_ai.usage.input_tokens': 7,
  })
  // The credential has an address of its own.
  expect(attributes).not.toHaveProperty('server.address')
})

test('routes of other formats and those that call no provider are named by their pattern', async () => {
  first.script(completion('Hello.'))
  const route = '/gemini/v1beta/models/custom%2Flarge:generateContent'
  const body = { contents: [{ role: 'user', parts: [{ text: PROMPT }] }] }
  const { spans } = await call(body, {}, route)
  expect(one(spans, 'POST /gemini/v1beta/models/*:generateContent').attributes).toMatchObject({
    'http.route': '/gemini/v1beta/models/*:generateContent',
  })
  const listed = await fetch(`${app.gatewayUrl}/v1/models`, {
    headers: { authorization: `Bearer ${app.secretKey}` },
  })
  const [, request] = await collector.trace(idOf(listed))
  expect(request).toMatchObject({ name: 'GET /v1/models', attributes: { 'http.response.status_code': 200 } })
})

test("a secret key's traceparent is the parent, with its tracestate, which no provider gets", async () => {
  first.script(completion('Hello.'))
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=canary,BAD=x' }
  const { spans } = await call(CALL, { headers })
  const request = one(spans, 'POST /v1/chat')
  expect(request).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'vendor=canary' })
  const sent = first.requests.at(-1)?.headers
  expect(sent?.traceparent).toBe(`00-${TRACE}-${one(spans, 'chat large').spanId}-01`)
  expect(sent).not.toHaveProperty('tracestate')
})

test('a secret key that does not sample its trace leaves no span, and the provider is told so', async () => {
  const trace = '1af7651916cd43dd8448eb211c80319c'
  first.script(completion('Hello.'))
  await (await app.call('/v1/chat', CALL, { headers: { traceparent: `00-${trace}-${PARENT}-00` } })).text()
  expect(first.requests.at(-1)?.headers.traceparent).toMatch(
    new RegExp(`^00-${trace}-(?!${PARENT})[0-9a-f]{16}-00$`),
  )
  // Sent later, received: nothing of the one before was.
  await call(CALL)
  expect(collector.spans.filter(({ traceId }) => traceId === trace)).toEqual([])
})

test.each(['00', '01'])('a client token chooses neither its trace nor its sampling (%s)', async flags => {
  const { id } = await app.createKey({})
  first.script(completion('Hello.'))
  const traceparent = `00-2af7651916cd43dd8448eb211c80319c-${PARENT}-${flags}`
  const { spans } = await call(CALL, { key: mint({ id }), headers: { traceparent, tracestate: 'a=b' } })
  expect(one(spans, 'POST /v1/chat')).toMatchObject({
    parentSpanId: undefined,
    attributes: { 'rideau.caller.kind': 'client_token' },
  })
  expect(first.requests.at(-1)?.headers.traceparent).not.toContain('2af7651916cd43dd8448eb211c80319c')
})

test('a traceparent that is not valid begins a new trace', async () => {
  first.script(completion('Hello.'))
  const { spans } = await call(CALL, { headers: { traceparent: `00-${TRACE}-${PARENT}-01-more` } })
  expect(one(spans, 'POST /v1/chat').parentSpanId).toBeUndefined()
})

test('a request with an unknown credential leaves no span', async () => {
  const before = await app.call('/v1/chat', CALL, { key: 'rd_sk_unknown' })
  expect(before.status).toBe(401)
  await call(CALL)
  const refused = collector.spans.filter(
    ({ kind, attributes }) => kind === 2 && attributes['http.response.status_code'] === 401,
  )
  expect(refused).toEqual([])
})

test('a stream whose caller leaves ends its spans too', async () => {
  first.script(res => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ role: 'assistant', content: 'Hel' }))
  })
  const leaving = new AbortController()
  const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CALL, stream: true }),
    signal: leaving.signal,
  })
  leaving.abort()
  const spans = await collector.trace(idOf(response))
  expect(one(spans, 'POST /v1/chat').attributes).toMatchObject({ 'error.type': 'request_canceled' })
  expect(one(spans, 'chat large').attributes).toMatchObject({ 'error.type': 'request_canceled' })
})
