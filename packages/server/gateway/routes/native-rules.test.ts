import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { findErrorCode } from '../../testing/harness/error-code.ts'

let app: TestApp
let publishable: string

beforeAll(async () => {
  app = await openTestApp()
  publishable = (await app.createKey({ kind: 'publishable', name: 'browser' })).key
})

afterAll(() => app.close())

async function send(
  method: string,
  route: string,
  body?: string,
  key = app.secretKey,
  headers: Record<string, string> = {},
): Promise<{ outcome: string; body: any }> {
  const response = await fetch(app.gatewayUrl + route, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const json = text === '' ? undefined : JSON.parse(text)
  const { code, param } = json?.error ?? {}
  const outcome = [response.status, code, param].filter(part => part !== undefined && part !== null)
  return { outcome: outcome.join(' '), body: json }
}

const CHAT = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] })
const EMBEDDING = JSON.stringify({ model: 'sandbox/embed', input: 'hi' })
const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000001'

describe('an unknown query parameter', () => {
  test.each([
    ['POST', '/v1/chat', CHAT],
    ['POST', '/v1/embeddings', EMBEDDING],
    ['GET', '/v1/models', undefined],
    ['GET', '/v1/models/sandbox/echo', undefined],
    ['POST', '/v1/feedback', '{}'],
    ['POST', '/v1/client-tokens', '{}'],
    ['POST', '/v1/device/challenge', undefined],
    ['POST', '/v1/device/attest', '{}'],
    ['POST', '/v1/device/assert', '{}'],
    ['POST', `/v1/requests/${UNKNOWN_ID}/cancel`, undefined],
  ])('on %s %s is refused with request_validation_failed', async (method, route, body) => {
    const key = route.startsWith('/v1/device') ? publishable : app.secretKey
    for (const [query, param] of [
      ['colour=red', 'colour'],
      ['limit=1&page=2', method === 'GET' && route === '/v1/models' ? 'page' : 'limit'],
      ['__proto__=1', '__proto__'],
    ]) {
      const { outcome } = await send(method, `${route}?${query}`, body, key)
      expect([query, outcome]).toEqual([query, `400 request_validation_failed ${param}`])
    }
  })

  test('is refused after the credential is checked', async () => {
    expect((await send('POST', '/v1/chat?colour=red', CHAT, 'rd_sk_dev_nothing')).outcome).toBe(
      '401 invalid_key',
    )
  })

  test.each([
    ['POST', '/openai/v1/chat/completions', CHAT],
    ['POST', '/openai/v1/embeddings', EMBEDDING],
    ['GET', '/openai/v1/models', undefined],
    ['GET', '/anthropic/v1/models', undefined],
    ['POST', '/anthropic/v1/messages', CHAT.replace('{', '{"max_tokens":20,')],
  ])('on %s %s is ignored', async (method, route, body) => {
    expect((await send(method, `${route}?beta=true&page=2`, body)).outcome).toBe('200')
  })

  test('is none where the query is empty', async () => {
    expect((await send('POST', '/v1/chat?', CHAT)).outcome).toBe('200')
  })
})

test.each([
  ['GET', '/v1/models/%zz'],
  ['GET', '/openai/v1/models/%'],
  ['GET', '/anthropic/v1/models/openai%2'],
  ['POST', '/v1/requests/%ff/cancel'],
  ['POST', '/bedrock/model/%zz/invoke'],
])('refuses the malformed path of %s %s with 400, after its credential', async (method, route) => {
  const codes = []
  for (const key of ['rd_sk_dev_nothing', app.secretKey]) {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(app.gatewayUrl + route, { method, headers })
    codes.push([response.status, findErrorCode(await response.json())])
  }
  expect(codes).toEqual([
    [401, 'invalid_key'],
    [400, 'request_validation_failed'],
  ])
})

describe('cancel, which takes no body,', () => {
  const cancel = (body: string | undefined, type?: string) =>
    send(
      'POST',
      `/v1/requests/${UNKNOWN_ID}/cancel`,
      body,
      app.secretKey,
      type === undefined ? {} : { 'content-type': type },
    )

  test.each([
    [undefined, undefined],
    ['', 'text/plain'],
    ['{}', undefined],
    [' { } \n', 'application/octet-stream'],
    ['{}', 'no media type'],
  ])('accepts %j as %s', async (body, type) => {
    const { outcome, body: answer } = await cancel(body, type)
    expect([outcome, answer]).toEqual(['200', { request_id: UNKNOWN_ID, canceled: false }])
  })

  test.each([
    ['{"a":1}', '400 invalid_request a'],
    ['{', '400 request_validation_failed'],
    ['[]', '400 invalid_request'],
    ['null', '400 invalid_request'],
    ['  ', '400 request_validation_failed'],
    [' '.repeat(100_000), '400 invalid_request'],
    [`{"a":"${'x'.repeat(100_000)}"}`, '400 invalid_request'],
  ])('refuses %.20j with %s', async (body, expected) => {
    expect((await cancel(body, 'application/json')).outcome).toBe(expected)
  })
})
