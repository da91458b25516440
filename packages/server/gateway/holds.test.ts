import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestHouse } from '../testing/house.ts'
import { ASK, type LimitedHouse, openLimitedHouse, PRICED } from '../testing/limited-house.ts'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  type ScriptedUpstream,
  stream,
  usageChunk,
} from '../testing/scripted-upstream.ts'

let limited: LimitedHouse
let house: TestHouse
let upstream: ScriptedUpstream

beforeAll(async () => {
  limited = await openLimitedHouse()
  ;({ house, upstream } = limited)
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

describe('no hold remains after', () => {
  const HOLD = { ...ASK, max_tokens: 200 }
  test.each([
    ['an upstream 400', json(400, { error: { message: 'no' } }), HOLD],
    ['an upstream 500, after its retries', json(500, { error: { message: 'no' } }), HOLD],
    ['an answer that is no JSON', json(200, 'text'), HOLD],
    ['a connection reset', (res: any) => res.destroy(), HOLD],
    ['a timeout', () => {}, { ...HOLD, timeout_ms: 1000 }],
    ['a stream cut in the middle', cutStream(chunk({ content: 'a' })), { ...HOLD, stream: true }],
    [
      'a stream that ends well',
      stream(chunk({ content: 'a' }), chunk({}, 'stop'), usageChunk(), DONE),
      { ...HOLD, stream: true },
    ],
  ] as const)(
    '%s',
    async (_what, answer, body) => {
      const { key, budget } = await limited.freshKey(100)
      upstream.script(answer)
      await (await house.call('/v1/chat', body, { key })).text().catch(() => {})
      expect(await budget()).toMatchObject({ reserved_usd: 0 })
    },
    60_000,
  )

  test.each([
    ['before the first byte', false],
    ['mid-stream', true],
  ])('a caller that leaves %s', async (_what, begins) => {
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
    const call = fetch(`${house.gatewayUrl}/v1/chat`, {
      method: 'POST',
      signal: abort.signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...HOLD, stream: true }),
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
    const call = house.call('/v1/chat', HOLD, { key, headers: { 'x-request-id': id } })
    await called
    expect((await budget()).reserved_usd).toBeGreaterThan(0)
    await house.call(`/v1/requests/${id}/cancel`, {}, { key })
    expect(await codeOf(await call)).toBe('request_canceled')
    expect(await budget()).toMatchObject({ reserved_usd: 0 })
  })

  test('three targets, of which the last answers', async () => {
    const { key, budget } = await limited.freshKey(100)
    for (const name of ['b', 'c']) {
      await limited.make(`/v1/environments/${house.developmentId}/custom-models`, {
        model: `custom/${name}`,
        capabilities: ['chat'],
        context_window: 1000,
        max_output_tokens: 1000,
        pricing: { input_usd_per_mtok: 0, output_usd_per_mtok: 10 },
      })
    }
    await limited.make(`/v1/environments/${house.developmentId}/model-aliases`, {
      alias: 'three',
      strategy: 'priority',
      targets: [PRICED, 'custom/b', 'custom/c'].map(model => ({ model, max_retries: 0 })),
    })
    const bad = json(500, { error: { message: 'no' } })
    upstream.script(
      bad,
      bad,
      completion('x', { usage: { prompt_tokens: 1, completion_tokens: 100, total_tokens: 101 } }),
    )
    expect((await house.call('/v1/chat', { ...HOLD, model: 'three' }, { key })).status).toBe(200)
    expect(await budget()).toMatchObject({ reserved_usd: 0, spent_usd: 0.001 })
  })
})
