import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../../testing/harness/app.ts'
import { type LimitedApp, openLimitedApp, PRICED, PRICED_CHAT } from '../../testing/harness/limited-app.ts'

/** What tells clients whether to repeat a call. */

let limited: LimitedApp
let app: TestApp
beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app } = limited)
})
afterAll(() => limited.close())
beforeEach(() => limited.reset())

const read = async (response: Response): Promise<any> => ({
  status: response.status,
  final: response.headers.get('x-should-retry'),
  wait: Number(response.headers.get('retry-after')),
  error: ((await response.json()) as any).error,
})
/** A fetch for official clients, which repeat calls by themselves. */
const countCalls = () => {
  const calls: string[] = []
  const counted: typeof fetch = (...args) => {
    calls.push(String(args[0]))
    return fetch(...args)
  }
  return { calls, counted }
}
const messages = [{ role: 'user' as const, content: 'hi' }]

test.each<[string, number, () => Promise<Response>]>([
  ['a broken body', 400, () => app.call('/v1/chat', '{')],
  ['no credential', 401, () => fetch(`${app.gatewayUrl}/v1/chat`, { method: 'POST' })],
  ['a wrong key', 401, () => app.call('/openai/v1/chat/completions', {}, { key: 'rd_sk_x' })],
  ['a wrong key of Anthropic', 401, () => app.call('/anthropic/v1/messages', {}, { key: 'rd_sk_x' })],
  ['no such model', 404, () => app.call('/v1/chat', { ...PRICED_CHAT, model: 'unheard-of' })],
  ['no such route', 404, () => app.call('/v1/unheard-of', {})],
  [
    'another type of body',
    415,
    () => app.call('/v1/chat', 'x', { headers: { 'content-type': 'text/plain' } }),
  ],
])('%s: %i with x-should-retry: false', async (_, status, send) => {
  expect(await read(await send())).toMatchObject({ status, final: 'false' })
})

test('the control plane says the same of a 401', async () => {
  const response = await fetch(`${app.controlUrl}/v1/orgs`, { headers: { authorization: 'Bearer rd_mk_x' } })
  expect(await read(response)).toMatchObject({ status: 401, final: 'false' })
})

test('an exhausted budget: 402 with x-should-retry: false', async () => {
  const { key } = await limited.freshKey(0.000_001)
  expect(await read(await app.call('/v1/chat', PRICED_CHAT, { key }))).toMatchObject({
    status: 402,
    final: 'false',
  })
})

test('a limit that is reset within a minute says nothing, and has its own type', async () => {
  await limited.limit('limits', { scope: 'environment', metric: 'requests', limit: 1, window_seconds: 50 })
  await app.call('/v1/chat', PRICED_CHAT)
  const refused = await read(await app.call('/openai/v1/chat/completions', PRICED_CHAT))
  expect(refused).toMatchObject({
    status: 429,
    final: null,
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  })
})

test.each([
  ['concurrency', { metric: 'concurrency', limit: 0 }],
  ['tokens', { metric: 'tokens', limit: 10, window_seconds: 60 }],
])('a limit of %s that no wait helps against: 429 with x-should-retry: false', async (_, rule) => {
  await limited.limit('limits', { scope: 'environment', ...rule })
  const refused = await read(await app.call('/v1/chat', { model: PRICED, messages, max_output_tokens: 100 }))
  expect([refused.status, refused.final]).toEqual([429, 'false'])
})

describe('a limit that is reset in more than a minute', () => {
  const exhaust = async (): Promise<void> => {
    await limited.limit('limits', {
      scope: 'environment',
      metric: 'requests',
      limit: 1,
      window_seconds: 3600,
    })
    await app.call('/v1/chat', PRICED_CHAT)
  }

  test.each([
    ['/openai/v1/chat/completions', PRICED_CHAT],
    ['/openai/v1/responses', { model: PRICED, input: 'hi' }],
    ['/openai/v1/embeddings', { model: 'sandbox/embed', input: 'hi' }],
    ['/openai/v1/chat/completions', { ...PRICED_CHAT, stream: true }],
  ])('has the type insufficient_quota at %s, with our code and Retry-After', async (path, body) => {
    await exhaust()
    const refused = await read(await app.call(path, body))
    expect(refused).toMatchObject({
      status: 429,
      final: 'false',
      error: { type: 'insufficient_quota', code: 'rate_limit_exceeded', message: expect.any(String) },
    })
    expect(refused.wait).toBeGreaterThan(60)
  })

  test('keeps its own type natively, and the one of Anthropic there', async () => {
    await exhaust()
    const native = await read(await app.call('/v1/chat', PRICED_CHAT))
    expect(native).toMatchObject({ status: 429, final: 'false', error: { type: 'rate_limit_error' } })
    const anthropic = await read(await app.call('/anthropic/v1/messages', PRICED_CHAT))
    expect(anthropic).toMatchObject({ status: 429, final: 'false', error: { type: 'rate_limit_error' } })
  })

  test("is not repeated by OpenAI's client", async () => {
    await exhaust()
    const { calls, counted } = countCalls()
    const client = new OpenAI({
      baseURL: `${app.gatewayUrl}/openai/v1`,
      apiKey: app.secretKey,
      fetch: counted,
    })
    const error = await client.chat.completions
      .create({ model: PRICED, messages })
      .catch((each: unknown) => each)
    expect(error).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'rate_limit_exceeded' })
    expect(calls).toHaveLength(1)
  })
})

test("a wrong key is not repeated by Anthropic's client", async () => {
  const { calls, counted } = countCalls()
  const client = new Anthropic({ baseURL: `${app.gatewayUrl}/anthropic`, apiKey: 'rd_sk_x', fetch: counted })
  const error = await client.messages
    .create({ model: PRICED, max_tokens: 9, messages })
    .catch((each: unknown) => each)
  expect(error).toMatchObject({ status: 401 })
  expect(calls).toHaveLength(1)
})

test('an exceeded quota says that it will reset, which ends qwen-code', async () => {
  await limited.limit('quotas', { scope: 'environment', metric: 'requests', limit: 1, window: 'month' })
  await app.call('/v1/chat', PRICED_CHAT)
  const refused = await read(await app.call('/openai/v1/chat/completions', PRICED_CHAT))
  expect(refused).toMatchObject({
    status: 429,
    error: { type: 'insufficient_quota', code: 'quota_exceeded' },
  })
  expect(refused.error.message).toMatch(/^The quota of .* is exceeded: .*; will reset at 20/)
})
