import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  completion,
  json,
  openScriptedUpstream,
  type ScriptedUpstream,
  streamedCompletion,
} from '../../testing/fakes/scripted-upstream.ts'
import { openTestApp, TEST_OVERRIDES, type TestApp } from '../../testing/harness/app.ts'

let app: TestApp
let upstream: ScriptedUpstream
const lines: string[] = []

beforeAll(async () => {
  app = await openTestApp({ LOG_LEVEL: 'warn' }, TEST_OVERRIDES, { write: line => void lines.push(line) })
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

describe("a provider's error", () => {
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
  ])("maps %i %j to %i %s, without the provider's message", async (status, body, expectedStatus, code) => {
    upstream.script(json(status, body))
    const response = await app.call('/v1/chat', { model: MODEL, messages })
    const text = await response.text()
    expect(response.status).toBe(expectedStatus)
    expect(JSON.parse(text).error).toMatchObject({ code, request_id: response.headers.get('x-request-id') })
    expect(text).not.toContain('sk-of-the-tenant')
    expect(text).not.toContain('127.0.0.1:' + new URL(upstream.baseUrl).port)
    const retryAfter = response.headers.get('retry-after')
    if (expectedStatus === 503) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1)
    const isFinal = expectedStatus < 500 || code === 'provider_auth_failed'
    expect(response.headers.get('x-should-retry')).toBe(isFinal ? 'false' : null)
  })

  test('causes at most three attempts, each of them in the log', async () => {
    upstream.script(json(500, {}))
    const before = upstream.requests.length
    const response = await app.call('/v1/chat', { model: MODEL, messages })
    expect(upstream.requests.length - before).toBe(3)
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(log.attempts).toHaveLength(3)
    expect(log).toMatchObject({ status: 503, error_code: 'provider_unavailable', cost_usd: 0 })
  })

  test('maps a timeout to 502 timeout, without another attempt at the same target', async () => {
    upstream.script(() => {})
    const before = upstream.requests.length
    const response = await app.call('/v1/chat', { model: MODEL, messages, timeout_ms: 1000 })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'timeout' } })
    expect(upstream.requests.length - before).toBe(1)
    await upstream.requests.at(-1)?.closed
  })

  test('maps an unreachable address to 503 provider_unavailable', async () => {
    await app.addCredential('groq', { api_key: 'k', base_url: 'http://127.0.0.1:9/v1' })
    const response = await app.call('/v1/chat', { model: 'groq/llama-3.3-70b-versatile', messages })
    expect(response.status).toBe(503)
  })

  test('refuses link-local addresses at the socket, whatever the settings', async () => {
    const id = await app.addCredential('deepseek', { api_key: 'k', base_url: upstream.baseUrl })
    // An address from before a change of the rules: today it would not be stored.
    await app.database.pool.query('update provider_credentials set base_url = $2 where id = $1', [
      id,
      'http://169.254.169.254/v1',
    ])
    const call = async () => await app.call('/v1/chat', { model: 'deepseek/deepseek-chat', messages })
    await expect.poll(async () => (await call()).status).toBe(503)
    expect(lines.at(-1)).toContain('egress refused')
    await app.manage('DELETE', `/v1/provider-credentials/${id}`)
  })
})

describe('before any provider is called', () => {
  test('refuses the sandbox in production, which has no credential for it', async () => {
    const { key } = await app.createKey({}, app.productionId)
    const response = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(await response.json()).toMatchObject({
      error: { code: 'provider_credential_missing', param: 'model' },
    })
  })

  test.each(['gpt-unheard-of', 'nobody/gpt-4o', 'sandbox/unheard-of', 'openai/..'])(
    'refuses the unknown model %s with 404 model_not_found',
    async model => {
      const response = await app.call('/v1/chat', { model, messages })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } })
    },
  )

  test("applies a key's allowed models and endpoints", async () => {
    const { key } = await app.createKey({ restrictions: { allowed_models: ['openai/*'] } })
    const model = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(model.status).toBe(403)
    expect(await model.json()).toMatchObject({ error: { code: 'model_not_allowed' } })
    const embedder = await app.createKey({ restrictions: { allowed_endpoints: ['embeddings'] } })
    const endpoint = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key: embedder.key })
    expect(await endpoint.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
    const scoped = await app.createKey({ scopes: ['ai.embed'] })
    const scope = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key: scoped.key })
    expect(await scope.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
  })

  test('refuses any call with a publishable key', async () => {
    const { key } = await app.createKey({ kind: 'publishable' })
    const response = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
  })

  test('refuses a request that starts after the revocation returned', async () => {
    const { id, key } = await app.createKey({})
    for (let i = 0; i < 3; i++) {
      expect((await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })).status).toBe(200)
    }
    await app.manage('POST', `/v1/keys/${id}/revoke`)
    const response = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'key_revoked' } })
  })

  test('accepts a new key at once, even if it was unknown to the gateway before', async () => {
    for (let i = 0; i < 10; i++) {
      const { key } = await app.createKey({})
      expect((await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { key })).status).toBe(200)
    }
  })

  test('refuses a secret key from a browser and points to client tokens', async () => {
    const response = await app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages },
      { headers: { origin: 'https://app.example.com' } },
    )
    expect(response.status).toBe(403)
    const { error } = (await response.json()) as any
    expect(error.code).toBe('endpoint_not_allowed')
    expect(error.message).toContain('client token')
  })
})

describe('the end user named by a secret key', () => {
  const chat = (headers: Record<string, string>, fields: object = {}) =>
    app.call('/v1/chat', { model: 'sandbox/echo', messages, ...fields }, { headers })

  test('is logged in full, from the header or the field', async () => {
    const id = 'u'.repeat(255)
    const byHeader = await chat({ 'x-rideau-end-user': id })
    const byField = await chat({}, { end_user: id })
    for (const response of [byHeader, byField]) {
      expect((await app.findLog(response.headers.get('x-request-id') ?? '')).end_user_id).toBe(id)
    }
  })

  test('is refused if it is empty or too long, or if header and field disagree', async () => {
    for (const id of ['', 'u'.repeat(256)]) {
      const refused = await chat({ 'x-rideau-end-user': id })
      expect(await refused.json()).toMatchObject({
        error: { code: 'request_validation_failed', param: 'X-Rideau-End-User' },
      })
    }
    const both = await chat({ 'x-rideau-end-user': 'a' }, { end_user: 'b' })
    expect(await both.json()).toMatchObject({ error: { code: 'invalid_request', param: 'end_user' } })
  })
})

describe('a capability', () => {
  test.each([
    ['tools', 'sandbox/json', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['response_format', 'sandbox/tools', { response_format: { type: 'json_object' } }],
  ])('refuses %s for the model %s with 400 model_missing_capability', async (param, model, fields) => {
    const response = await app.call('/v1/chat', { model, messages, ...fields })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'model_missing_capability', param } })
  })
})

describe('the request id', () => {
  test("is the caller's own UUID", async () => {
    const id = randomUUID()
    const response = await app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages },
      { headers: { 'x-request-id': id } },
    )
    expect(response.headers.get('x-request-id')).toBe(id)
    expect(((await response.json()) as any).id).toBe(id)
    expect((await app.findLog(id)).request_id).toBe(id)
  })

  test("is a new one if the caller's was logged before", async () => {
    const id = randomUUID()
    const headers = { 'x-request-id': id }
    await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { headers })
    await app.findLog(id)
    const again = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { headers })
    expect(again.status).toBe(200)
    expect(again.headers.get('x-request-id')).not.toBe(id)
  })

  test('is a new one for a request that its credential refuses, if the caller’s was logged before', async () => {
    const id = randomUUID()
    const headers = { 'x-request-id': id }
    await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { headers })
    await app.findLog(id)
    const { key } = await app.createKey({ restrictions: { allowed_endpoints: ['embeddings'] } })
    const refused = await app.call('/v1/chat', { model: 'sandbox/echo', messages }, { headers, key })
    expect(refused.status).toBe(403)
    const other = refused.headers.get('x-request-id') ?? ''
    expect(other).not.toBe(id)
    expect(await app.findLog(other)).toMatchObject({ error_code: 'endpoint_not_allowed' })
    const own = randomUUID()
    const named = await app.call('/v1/chat', {}, { headers: { 'x-request-id': own }, key })
    expect(named.headers.get('x-request-id')).toBe(own)
  })

  test('is in no log for a publishable key, which anybody can read out of an app', async () => {
    const { key } = await app.createKey({ kind: 'publishable' })
    const body = { model: 'sandbox/echo', messages }
    const ids: string[] = []
    for (const path of ['/v1/chat', '/openai/v1/embeddings', '/openai/v1/images/generations']) {
      const refused = await app.call(path, body, { key })
      expect(await refused.json()).toMatchObject({ error: { code: 'endpoint_not_allowed' } })
      ids.push(refused.headers.get('x-request-id') ?? '')
    }
    const later = await app.call('/v1/chat', body)
    // Records reach the log in the order of their requests.
    await app.findLog(later.headers.get('x-request-id') ?? '')
    for (const id of ids) expect((await app.manage('GET', `/v1/logs/${id}`)).status).toBe(404)
  })

  test("is a new one if the caller's is not a UUID", async () => {
    const response = await app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages },
      { headers: { 'x-request-id': 'mine' } },
    )
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('POST /v1/requests/{request_id}/cancel', () => {
  test("ends a running request with 400 request_canceled and closes the provider's connection", async () => {
    let arrived: () => void = () => {}
    const isThere = new Promise<void>(resolve => {
      arrived = resolve
    })
    upstream.script(() => arrived())
    const id = randomUUID()
    const running = app.call('/v1/chat', { model: MODEL, messages }, { headers: { 'x-request-id': id } })
    await isThere
    const cancel = await app.call(`/v1/requests/${id}/cancel`, '')
    expect(await cancel.json()).toEqual({ request_id: id, canceled: true })
    const response = await running
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'request_canceled' } })
    await upstream.requests.at(-1)?.closed
  })

  test('returns false if no request with this id is in flight', async () => {
    const response = await app.call(`/v1/requests/${randomUUID()}/cancel`, '')
    expect(await response.json()).toMatchObject({ canceled: false })
  })
})

describe('the log', () => {
  test('contains bodies in development and not in production', async () => {
    upstream.script(completion('A remarkable answer.'))
    const development = await app.call('/v1/chat', { model: MODEL, messages, metadata: { a: 'b' } })
    const kept = await app.findLog(development.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(kept)).toContain('A remarkable answer.')
    expect(kept.metadata).toEqual({ a: 'b' })

    await app.addCredential('openai', { api_key: 'sk-prod', base_url: upstream.baseUrl }, app.productionId)
    const { key } = await app.createKey({}, app.productionId)
    upstream.script(completion('A remarkable answer.'))
    const production = await app.call('/v1/chat', { model: MODEL, messages }, { key })
    const metadataOnly = await app.findLog(production.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(metadataOnly)).not.toContain('A remarkable answer.')
    expect(JSON.stringify(metadataOnly)).not.toContain('Say hello.')
    expect(metadataOnly).toMatchObject({ status: 200, model: MODEL })
  })

  test('contains the joined text of a stream', async () => {
    upstream.script(streamedCompletion('Hel', 'lo'))
    const response = await app.call('/openai/v1/chat/completions', { model: MODEL, messages, stream: true })
    await response.text()
    const log = await app.findLog(response.headers.get('x-request-id') ?? '')
    expect(JSON.stringify(log)).toContain('Hello')
    expect(log).toMatchObject({ status: 200, stream: true, finish_reason: 'stop' })
  })
})
