import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  DONE,
  json,
  type ScriptedUpstream,
  stream,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import type { TestApp } from '../../testing/harness/app.ts'
import {
  type LimitedApp,
  openLimitedApp,
  PRICED_CHAT,
  UNPRICED,
  USED,
} from '../../testing/harness/limited-app.ts'

let limited: LimitedApp
let app: TestApp
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedApp()
  ;({ app, upstream } = limited)
})

afterAll(async () => {
  await limited.close()
})

beforeEach(async () => {
  await limited.reset()
})

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as any
  return body.error?.code ?? 'ok'
}

/** The limits that the log shows for the request. */
async function checkedBy(response: Response): Promise<any> {
  return (await app.findLog(response.headers.get('x-request-id') ?? '')).checked_limits
}

describe('a budget', () => {
  test('admits exactly 20 of 300 concurrent requests at $0.05 each against $1.00', async () => {
    const { key, budget } = await limited.freshKey(1)
    let release: () => void = () => {}
    const open = new Promise<void>(resolve => {
      release = resolve
    })
    upstream.script(async (res, seen) => {
      await open
      await completion('hello', { usage: USED })(res, seen)
    })
    const before = upstream.requests.length
    const calls = Array.from({ length: 300 }, () => app.call('/v1/chat', PRICED_CHAT, { key }))
    const refused = await takeUntilPending(calls, 20)
    expect(refused).toHaveLength(280)
    expect(await budget()).toMatchObject({ spent_usd: 0, reserved_usd: 1 })
    release()
    const statuses = await Promise.all(calls.map(async call => (await call).status))
    expect(statuses.filter(status => status === 200)).toHaveLength(20)
    expect(statuses.filter(status => status === 402)).toHaveLength(280)
    expect(upstream.requests.length - before).toBe(20)
    expect(await budget()).toMatchObject({ spent_usd: 1, reserved_usd: 0 })
  }, 60_000)

  test('names scope, limit, settled, reserved and reset when it refuses, without Retry-After', async () => {
    const { key } = await limited.freshKey(0.04)
    const response = await app.call('/v1/chat', PRICED_CHAT, { key })
    const { error } = (await response.json()) as any
    expect([response.status, error.code, error.type]).toEqual([402, 'budget_exceeded', 'budget_error'])
    expect(error.message).toMatch(
      /key .*limit \$0\.04, settled \$0\.00, held \$0\.00, wanted \$0\.05; resets at 20/,
    )
    expect(await checkedBy(response)).toMatchObject([
      { kind: 'budget', scope: 'key', limit: 0.04, reserved: 0, remaining: 0.04, refused: 0.05 },
    ])
  })

  test('refuses a model of unknown price with 400 model_unpriced while it is in force', async () => {
    const ask = { ...PRICED_CHAT, model: UNPRICED }
    expect((await app.call('/v1/chat', ask)).status).toBe(200)
    const { key } = await limited.freshKey(100)
    const response = await app.call('/v1/chat', ask, { key })
    const { error } = (await response.json()) as any
    expect([response.status, error.code, error.param]).toEqual([400, 'model_unpriced', 'model'])
  })

  test('lowers the output cap to what is reserved if it is nearly spent', async () => {
    const { key, budget } = await limited.freshKey(0.3)
    upstream.script(
      completion('hello', { usage: { prompt_tokens: 1, completion_tokens: 4096, total_tokens: 4097 } }),
    )
    const { max_tokens: _, ...uncapped } = PRICED_CHAT
    expect((await app.call('/v1/chat', uncapped, { key })).status).toBe(200)
    expect(
      upstream.requests.at(-1)?.body.max_completion_tokens ?? upstream.requests.at(-1)?.body.max_tokens,
    ).toBe(4096)
    expect(await budget()).toMatchObject({ spent_usd: 0.2048, reserved_usd: 0 })
  })

  test('ends a stream that would exceed it with finish_reason length and a note, and is never exceeded', async () => {
    const { key, budget } = await limited.freshKey(0.0515)
    const chunks = Array.from({ length: 3000 }, () => chunk({ content: 'word' }))
    upstream.script(stream(...chunks, chunk({}, 'stop'), usageChunk(), DONE))
    const { max_tokens: _, ...uncapped } = { ...PRICED_CHAT, stream: true }
    const response = await app.call('/v1/chat', uncapped, { key })
    const text = await response.text()
    expect(text).toContain('"finish_reason":"length"')
    expect(text).toContain(': budget_exceeded')
    expect(text).toContain('data: [DONE]')
    const { spent_usd, reserved_usd } = await budget()
    expect(reserved_usd).toBe(0)
    expect(spent_usd).toBeLessThanOrEqual(0.0515)
    expect(spent_usd).toBeGreaterThan(0.05)
    const checked = await checkedBy(response)
    expect(checked).toMatchObject([{ kind: 'budget', metric: 'usd', refused: expect.any(Number) }])
    expect(checked[0].reserved).toBeGreaterThan(0)
  })

  test('never decreases: negative, absurd or missing usage is estimated and marked', async () => {
    const { key, budget } = await limited.freshKey(100)
    let spent = 0
    for (const usage of [
      { prompt_tokens: -5000, completion_tokens: -100, total_tokens: -5100 },
      { prompt_tokens: 1e15, completion_tokens: 3, total_tokens: 1e15 },
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      undefined,
    ]) {
      upstream.script(completion('hello world', { usage }))
      const response = await app.call('/v1/chat', PRICED_CHAT, { key })
      expect(response.status).toBe(200)
      const log = await app.findLog(response.headers.get('x-request-id') ?? '')
      expect(log.usage_estimated).toBe(true)
      const now = (await budget()).spent_usd
      expect(now).toBeGreaterThan(spent)
      expect(now).toBeLessThan(1)
      spent = now
    }
  })
})

/** Resolves with the settled calls once only `pending` are left. */
function takeUntilPending<T>(calls: readonly Promise<T>[], pending: number): Promise<T[]> {
  return new Promise(resolve => {
    const done: T[] = []
    for (const call of calls) {
      void call.then(value => {
        done.push(value)
        if (done.length === calls.length - pending) resolve([...done])
      })
    }
  })
}

describe('error codes of limits', () => {
  const user = { 'x-rideau-end-user': 'somebody' }
  test.each([
    [
      'limits',
      { scope: 'environment', metric: 'requests', limit: 0, window_seconds: 60 },
      429,
      'rate_limit_exceeded',
    ],
    [
      'limits',
      { scope: 'environment', metric: 'tokens', limit: 5, window_seconds: 60 },
      429,
      'rate_limit_exceeded',
    ],
    ['limits', { scope: 'environment', metric: 'concurrency', limit: 0 }, 429, 'concurrency_limit_exceeded'],
    [
      'limits',
      { scope: 'default_end_user', metric: 'requests', limit: 0, window_seconds: 60 },
      429,
      'end_user_rpm_exceeded',
    ],
    [
      'limits',
      { scope: 'default_end_user', metric: 'requests', limit: 0, window_seconds: 61 },
      429,
      'rate_limit_exceeded',
    ],
    ['quotas', { scope: 'environment', metric: 'tokens', window: 'day', limit: 5 }, 429, 'quota_exceeded'],
    [
      'quotas',
      { scope: 'default_end_user', metric: 'requests', window: 'hour', limit: 0 },
      429,
      'quota_exceeded',
    ],
    ['budgets', { window: 'total', limit_usd: 0.01 }, 402, 'budget_exceeded'],
    ['plans', { name: 'p', is_default: true, requests_per_minute: 0 }, 429, 'end_user_rpm_exceeded'],
    ['plans', { name: 'p', is_default: true, max_concurrency: 0 }, 429, 'concurrency_limit_exceeded'],
    ['plans', { name: 'p', is_default: true, tokens_per_day: 5 }, 429, 'quota_exceeded'],
    ['plans', { name: 'p', is_default: true, usd_per_month: 0.01 }, 402, 'budget_exceeded'],
    ['plans', { name: 'p', is_default: true, allowed_models: ['sandbox/*'] }, 403, 'model_not_allowed'],
    ['plans', { name: 'p', is_default: true, scopes: ['ai.embed'] }, 403, 'endpoint_not_allowed'],
  ] as const)('%s %j: %i %s', async (kind, body, status, code) => {
    await limited.limit(kind, body)
    const response = await app.call('/v1/chat', PRICED_CHAT, { headers: user })
    expect([response.status, await codeOf(response)]).toEqual([status, code])
    const wait = response.headers.get('retry-after')
    if (status !== 429) return expect(wait).toBeNull()
    expect(Number(wait)).toBeGreaterThanOrEqual(1)
    expect(response.headers.get('x-should-retry')).toBe(Number(wait) > 60 ? 'false' : null)
  })

  test('applies a change from the next request on', async () => {
    const rate = await limited.limit('limits', {
      scope: 'environment',
      metric: 'requests',
      limit: 0,
      window_seconds: 60,
    })
    expect((await app.call('/v1/chat', PRICED_CHAT)).status).toBe(429)
    await app.manage('PATCH', `/v1/limits/${rate.id}`, { limit: 1 })
    expect((await app.call('/v1/chat', PRICED_CHAT)).status).toBe(200)
    expect((await app.call('/v1/chat', PRICED_CHAT)).status).toBe(429)
  })

  test('counts what was used before its window or its key was changed', async () => {
    const [one, other] = [await app.createKey({}), await app.createKey({})]
    const scope = { scope: 'key', scope_ref: one.id }
    const rate = await limited.limit('limits', { ...scope, metric: 'requests', limit: 3, window_seconds: 60 })
    const call = async (key: string): Promise<number> =>
      (await app.call('/v1/chat', PRICED_CHAT, { key })).status
    const statuses = [await call(one.key), await call(one.key), await call(other.key)]
    await app.manage('PATCH', `/v1/limits/${rate.id}`, { window_seconds: 86_400 })
    statuses.push(await call(one.key), await call(one.key))
    await app.manage('PATCH', `/v1/limits/${rate.id}`, { scope_ref: other.id })
    statuses.push(await call(other.key), await call(other.key), await call(other.key))
    expect(statuses).toEqual([200, 200, 200, 200, 429, 200, 200, 429])
  })

  test('applies the default limit to the first fifty requests of a new end user', async () => {
    await limited.limit('limits', {
      scope: 'default_end_user',
      metric: 'requests',
      limit: 7,
      window_seconds: 60,
    })
    const headers = { 'x-rideau-end-user': 'never seen before' }
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => app.call('/v1/chat', PRICED_CHAT, { headers })),
    )
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(7)
    const other = await app.call('/v1/chat', PRICED_CHAT, { headers: { 'x-rideau-end-user': 'another' } })
    expect(other.status).toBe(200)
  })
})

describe('an answer', () => {
  test('states the binding limits in headers', async () => {
    const { id, key } = await app.createKey({})
    await limited.limit('limits', { scope: 'environment', metric: 'requests', limit: 10, window_seconds: 60 })
    await limited.limit('limits', {
      scope: 'key',
      scope_ref: id,
      metric: 'requests',
      limit: 2,
      window_seconds: 30,
    })
    const response = await app.call('/openai/v1/chat/completions', PRICED_CHAT, { key })
    expect(response.headers.get('ratelimit-policy')).toBe('"key-requests";q=2;w=30')
    expect(response.headers.get('ratelimit')).toBe('"key-requests";r=1;t=30')
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect(response.headers.get('x-ratelimit-reset-requests')).toBe('30s')
    await app.call('/openai/v1/chat/completions', PRICED_CHAT, { key })
    const refused = await app.call('/openai/v1/chat/completions', PRICED_CHAT, { key })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit-policy')).toBe('"key-requests";q=2;w=30')
    expect(refused.headers.get('ratelimit')).toMatch(/^"key-requests";r=0;t=(?:29|30)$/)
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0')
  })

  test.each([
    ['500 of the provider', 500, {}, 503, '3'],
    ['400 of the provider', 400, { error: { message: 'no' } }, 400, '1'],
  ])('after a %s states the limits and the attempts', async (_, answer, body, status, attempts) => {
    await limited.limit('limits', { scope: 'environment', metric: 'requests', limit: 10, window_seconds: 60 })
    await limited.limit('limits', {
      scope: 'environment',
      metric: 'tokens',
      limit: 9000,
      window_seconds: 60,
    })
    upstream.script(json(answer, body))
    for (const call of [PRICED_CHAT, { ...PRICED_CHAT, stream: true }]) {
      const { status: sent, headers } = await app.call('/openai/v1/chat/completions', call)
      expect([sent, headers.get('x-rideau-attempts')]).toEqual([status, attempts])
      expect(headers.get('ratelimit-policy')).toBe(
        '"environment-requests";q=10;w=60, "environment-tokens";q=9000;w=60;qu="tokens"',
      )
      expect(headers.get('ratelimit')).toMatch(/^"environment-requests";r=[89];t=(?:59|60), /)
      expect(headers.get('x-ratelimit-limit-tokens')).toBe('9000')
      expect(headers.get('x-ratelimit-remaining-requests')).toMatch(/^[89]$/)
    }
  })

  test('after an attempt that timed out states the limits and the attempt', async () => {
    await limited.limit('limits', { scope: 'environment', metric: 'requests', limit: 10, window_seconds: 60 })
    upstream.script(() => {})
    const { status, headers } = await app.call('/v1/chat', { ...PRICED_CHAT, timeout_ms: 1000 })
    expect([status, headers.get('x-rideau-attempts')]).toEqual([502, '1'])
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('9')
  })

  test.each([
    ['model', { ...PRICED_CHAT, model: 'custom/' }],
    ['field', { ...PRICED_CHAT, messages: 'hi' }],
    ['capability', { ...PRICED_CHAT, model: 'sandbox/embed' }],
  ])('that refuses a %s before the limits states none and no attempts', async (_, body) => {
    await limited.limit('limits', { scope: 'environment', metric: 'requests', limit: 10, window_seconds: 60 })
    const { status, headers } = await app.call('/v1/chat', body)
    expect(status).toBeGreaterThanOrEqual(400)
    expect([...headers.keys()].filter(name => /ratelimit|attempts/.test(name))).toEqual([])
  })

  test('with a count of tokens states the limits', async () => {
    await limited.limit('limits', { scope: 'environment', metric: 'requests', limit: 10, window_seconds: 60 })
    const { status, headers } = await app.call('/anthropic/v1/messages/count_tokens', PRICED_CHAT)
    expect([status, headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '9'])
  })

  test.each([
    ['limits', { metric: 'requests', limit: 1, window_seconds: 60 }, 'end_user_rpm_exceeded'],
    ['quotas', { metric: 'requests', limit: 1, window: 'day' }, 'quota_exceeded'],
  ] as const)(
    '%s count the first request of an end user that they are older than',
    async (kind, rule, code) => {
      const name = `first seen by ${kind}`
      await limited.limit(kind, { scope: 'end_user', scope_ref: name, ...rule })
      const call = (id: string) => app.call('/v1/chat', PRICED_CHAT, { headers: { 'x-rideau-end-user': id } })
      expect((await call(name)).status).toBe(200)
      const refused = await call(name)
      expect([refused.status, ((await refused.json()) as any).error.code]).toEqual([429, code])
      expect((await call(`not ${name}`)).status).toBe(200)
    },
  )

  test('passes within the grace of a quota and not above it, as GET reports', async () => {
    const headers = { 'x-rideau-end-user': 'gracious' }
    await limited.make(`/v1/environments/${app.developmentId}/end-users`, { external_id: 'gracious' })
    const quota = await limited.limit('quotas', {
      scope: 'end_user',
      scope_ref: 'gracious',
      metric: 'requests',
      window: 'month',
      limit: 2,
      grace_pct: 50,
    })
    for (const [status, remaining] of [
      [200, '1'],
      [200, '0'],
      [200, '0'],
      [429, '0'],
    ]) {
      const response = await app.call('/v1/chat', PRICED_CHAT, { headers })
      expect(response.status).toBe(status)
      // The limit as it was set, so that no caller relies on the grace.
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('2')
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe(remaining)
    }
    expect((await limited.list('quotas')).find((each: any) => each.id === quota.id)).toMatchObject({
      used: 3,
    })
  })
})
