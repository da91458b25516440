import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
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
  PRICED,
  PRICED_CHAT,
  USED,
} from '../../testing/harness/limited-app.ts'
import { redisProgram, startTestRedis, type TestRedis } from '../../testing/harness/redis.ts'
import type { GatewayDeps } from '../deps.ts'

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as any
  return body.error?.code ?? 'ok'
}

/** Replaces a property of `object` by one that throws, until the test ends. */
function throwAt(object: object, name: string): { count(): number; end(): void } {
  const own = Object.getOwnPropertyDescriptor(object, name)
  let count = 0
  Object.defineProperty(object, name, {
    configurable: true,
    get() {
      count++
      throw new Error('scripted')
    },
  })
  return {
    count: () => count,
    end() {
      if (own === undefined) Reflect.deleteProperty(object, name)
      else Object.defineProperty(object, name, own)
    },
  }
}

const LEDGERS: [string, (() => Promise<TestRedis>) | undefined][] = [['in process', undefined]]
if (redisProgram !== undefined) LEDGERS.push(['over Redis', startTestRedis])

describe.each(LEDGERS)('%s no reservation remains after', (_ledger, start) => {
  let limited: LimitedApp
  let stopRedis: (() => Promise<void>) | undefined
  let app: TestApp
  let upstream: ScriptedUpstream

  beforeAll(async () => {
    const redis = start === undefined ? undefined : await start()
    stopRedis = redis?.stop
    limited = await openLimitedApp(redis === undefined ? {} : { REDIS_URL: redis.url })
    ;({ app, upstream } = limited)
  })

  afterAll(async () => {
    await limited.close()
    await stopRedis?.()
  })

  beforeEach(async () => {
    await limited.reset()
  })

  const CHAT = { ...PRICED_CHAT, max_tokens: 200 }
  test.each([
    ['an upstream 400', json(400, { error: { message: 'no' } }), CHAT],
    ['an upstream 500, after its retries', json(500, { error: { message: 'no' } }), CHAT],
    ['an answer that is not JSON', json(200, 'text'), CHAT],
    ['a connection reset', (res: any) => res.destroy(), CHAT],
    ['a timeout', () => {}, { ...CHAT, timeout_ms: 1000 }],
    ['a stream cut in the middle', cutStream(chunk({ content: 'a' })), { ...CHAT, stream: true }],
    [
      'a stream that ends well',
      stream(chunk({ content: 'a' }), chunk({}, 'stop'), usageChunk(), DONE),
      { ...CHAT, stream: true },
    ],
  ] as const)(
    '%s',
    async (_what, answer, body) => {
      const { key, budget } = await limited.freshKey(100)
      upstream.script(answer)
      await (await app.call('/v1/chat', body, { key })).text().catch(() => {})
      expect(await budget()).toMatchObject({ reserved_usd: 0 })
    },
    60_000,
  )

  test.each([
    ['before the first byte', false],
    ['mid-stream', true],
  ])('a caller that disconnects %s', async (_what, begins) => {
    const { key, budget } = await limited.freshKey(100)
    let arrived: () => void = () => {}
    const called = new Promise<void>(resolve => {
      arrived = resolve
    })
    const gone = new Promise<void>(resolve => {
      upstream.script((res, seen) => {
        if (begins) {
          res.writeHead(200, { 'content-type': 'text/event-stream' })
          res.write(chunk({ content: 'a' }))
        }
        void seen.closed.then(resolve)
        arrived()
      })
    })
    const abort = new AbortController()
    const call = fetch(`${app.gatewayUrl}/v1/chat`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, stream: true }),
    })
    await called
    if (begins) await call
    expect((await budget()).reserved_usd).toBeGreaterThan(0)
    abort.abort()
    await call.catch(() => {})
    await gone
    expect(await budget()).toMatchObject({ reserved_usd: 0 })
  })

  test('a cancel', async () => {
    const { key, budget } = await limited.freshKey(100)
    const id = crypto.randomUUID()
    const called = new Promise<void>(resolve => upstream.script(() => resolve()))
    const call = app.call('/v1/chat', CHAT, { key, headers: { 'x-request-id': id } })
    await called
    expect((await budget()).reserved_usd).toBeGreaterThan(0)
    await app.call(`/v1/requests/${id}/cancel`, {}, { key })
    expect(await codeOf(await call)).toBe('request_canceled')
    expect(await budget()).toMatchObject({ reserved_usd: 0 })
  })

  test('three fallbacks, of which the last answers', async () => {
    const { key, budget } = await limited.freshKey(100)
    for (const name of ['b', 'c', 'd']) {
      await limited.make(`/v1/environments/${app.developmentId}/custom-models`, {
        model: `custom/${name}`,
        capabilities: ['chat'],
        context_window: 1000,
        max_output_tokens: 1000,
        pricing: { input_usd_per_mtok: 0, output_usd_per_mtok: 10 },
      })
    }
    await limited.make(`/v1/environments/${app.developmentId}/model-aliases`, {
      alias: 'four',
      strategy: 'priority',
      targets: [PRICED, 'custom/b', 'custom/c', 'custom/d'].map(model => ({ model, max_retries: 0 })),
    })
    const bad = json(500, { error: { message: 'no' } })
    upstream.script(
      bad,
      bad,
      bad,
      completion('x', { usage: { prompt_tokens: 1, completion_tokens: 100, total_tokens: 101 } }),
    )
    const response = await app.call('/v1/chat', { ...CHAT, model: 'four' }, { key })
    expect([response.status, response.headers.get('x-rideau-model')]).toEqual([200, 'custom/d'])
    expect(await budget()).toMatchObject({ reserved_usd: 0, spent_usd: 0.001 })
  })

  /** Long enough to exceed the first reservation. */
  const LONG = { ...PRICED_CHAT, max_tokens: 4000, stream: true }
  test.each<[string, (deps: GatewayDeps) => [object, string], object]>([
    ['identify', deps => [deps, 'snapshots'], CHAT],
    ['the reading of the body', deps => [deps, 'bodyTimeoutMs'], CHAT],
    ['the selection of targets', deps => [deps, 'meterSets'], CHAT],
    ['reserve, before the reservation', deps => [deps.learned, 'find'], CHAT],
    ['reserve', deps => [deps.reservations, 'open'], CHAT],
    ['the line in the journal', deps => [deps, 'openRecord'], CHAT],
    ['call', deps => [deps.accessTokens, 'find'], CHAT],
    ['call, on its way out', deps => [deps.http, 'call'], CHAT],
    ['call, of a stream', deps => [deps.http, 'call'], { ...CHAT, stream: true }],
    ['relay, when the reservation is extended', deps => [deps.reservations, 'extend'], LONG],
    ['settle', deps => [deps, 'writeRecord'], CHAT],
    ['settle, of a stream', deps => [deps, 'writeRecord'], { ...CHAT, stream: true }],
    ['settle, after the reservation was settled', deps => [deps.learned, 'note'], CHAT],
  ])(
    'an exception in %s',
    async (_what, find, body) => {
      const { key, budget } = await limited.freshKey(100)
      const isStream = 'stream' in body
      const frames = Array.from({ length: 2000 }, () => chunk({ content: 'a' }))
      if (isStream) upstream.script(stream(...frames, chunk({}, 'stop'), usageChunk(USED), DONE))
      const thrown = throwAt(...find(limited.deps))
      try {
        const text = await (await app.call('/v1/chat', body, { key })).text()
        expect(text).toMatch(/internal_error|stream_interrupted/)
        expect(thrown.count()).toBeGreaterThan(0)
      } finally {
        thrown.end()
      }
      expect(await budget()).toMatchObject({ reserved_usd: 0 })
      expect(limited.deps.reservations.size).toBe(0)
    },
    60_000,
  )

  test('a body that cannot be parsed, and one that its format refuses', async () => {
    const { key, budget } = await limited.freshKey(100)
    const torn = await app.call('/v1/chat', '{', { key })
    expect(await codeOf(torn)).toBe('request_validation_failed')
    const refused = await app.call('/v1/chat', { ...CHAT, messages: 7 }, { key })
    expect(await codeOf(refused)).toBe('invalid_request')
    expect(await budget()).toMatchObject({ reserved_usd: 0 })
  })
})
