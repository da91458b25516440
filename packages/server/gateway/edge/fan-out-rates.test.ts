import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Fault } from '../../core/fault.ts'
import { openTestApp, type TestApp } from '../../testing/harness/app.ts'
import { makePlaygroundToken } from '../../testing/harness/playground-token.ts'
import { FanOutRates } from './fan-out-rates.ts'

/** A bucket gains 50 tokens a second. A busy machine needs more requests to empty it than a quick one. */
const MAX_REQUESTS = 10_000

describe('rates of requests about which other processes are asked', () => {
  const of = (environment: string, keyId: string, endUser?: string) =>
    ({
      environment: { id: environment },
      caller: { keyId, endUser: endUser === undefined ? null : { id: endUser } },
    }) as never

  function countTaken(rates: FanOutRates, who: never, times: number, now = 0): number {
    let taken = 0
    for (let at = 0; at < times; at++) {
      try {
        rates.take(who, now)
        taken++
      } catch (thrown) {
        expect((thrown as Fault).code).toBe('rate_limit_exceeded')
      }
    }
    return taken
  }

  test('a caller asks 500 times at once and then 50 times a second, apart from other callers', () => {
    const rates = new FanOutRates()
    expect(countTaken(rates, of('e', 'k'), 2000)).toBe(500)
    expect(countTaken(rates, of('e', 'other'), 10)).toBe(10)
    expect(countTaken(rates, of('e', 'k', 'u'), 10)).toBe(10)
    expect(countTaken(rates, of('e', 'k'), 2000, 1000)).toBe(50)
  })

  test('all callers of an environment ask 2,000 times at once, apart from other environments', () => {
    const rates = new FanOutRates()
    let taken = 0
    for (let user = 0; user < 100; user++) taken += countTaken(rates, of('e', 'k', `u${user}`), 500)
    expect(taken).toBe(2000)
    expect(countTaken(rates, of('f', 'k2'), 10)).toBe(10)
  })
})

describe('cancels and ratings of requests that do not run', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await openTestApp()
  })
  afterAll(() => app.close())

  const cancel = (id: string, key: string, body?: unknown) =>
    fetch(`${app.gatewayUrl}/v1/requests/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: body as string }),
    })

  /** Sends requests until one is refused. Returns how many had each status. */
  async function flood(send: () => Promise<Response>): Promise<Map<number, number>> {
    const counts = new Map<number, number>()
    let sent = 0
    const work = async (): Promise<void> => {
      while (!counts.has(429) && sent++ < MAX_REQUESTS) {
        const response = await send()
        await response.arrayBuffer()
        counts.set(response.status, (counts.get(response.status) ?? 0) + 1)
        if (response.status === 429) expect(response.headers.get('retry-after')).toBe('1')
      }
    }
    await Promise.all(Array.from({ length: 20 }, work))
    return counts
  }

  test('a flood of unknown cancels is refused beyond the rate, and a running request is still canceled with 200', async () => {
    const { key } = await app.createKey({})
    const id = crypto.randomUUID()
    const body = { model: 'sandbox/slow', messages: [{ role: 'user', content: 'hi' }] }
    const running = app.call('/v1/chat', body, { key, headers: { 'x-request-id': id } })
    const counts = await flood(() => cancel(crypto.randomUUID(), key))
    expect(counts.get(200)).toBeGreaterThanOrEqual(500)
    expect(counts.get(429)).toBeGreaterThan(0)
    const answer = await cancel(id, key)
    expect([answer.status, await answer.json()]).toEqual([200, { request_id: id, canceled: true }])
    expect(((await (await running).json()) as any).error.code).toBe('request_canceled')
    // Other callers are not concerned.
    const other = await cancel(crypto.randomUUID(), await makePlaygroundToken(app))
    expect([other.status, ((await other.json()) as any).canceled]).toEqual([200, false])
  })

  test('a flood of ratings of unknown requests is refused beyond the rate, and known ones are rated', async () => {
    const { key } = await app.createKey({})
    const asked = await app.call(
      '/v1/chat',
      { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] },
      { key },
    )
    const request_id = asked.headers.get('x-request-id') as string
    await app.findLog(request_id)
    const rate = (id: string) => app.call('/v1/feedback', { request_id: id, score: 1 }, { key })
    const counts = await flood(() => rate(crypto.randomUUID()))
    expect([...counts.keys()].sort()).toEqual([404, 429])
    expect((await rate(request_id)).status).toBe(201)
  })

  test('a cancel takes an empty body or `{}` of up to 1 KiB', async () => {
    const { key } = await app.createKey({})
    for (const body of ['', '{}', `{${' '.repeat(1000)}}`])
      expect((await cancel(crypto.randomUUID(), key, body)).status).toBe(200)
    for (const body of [`{${' '.repeat(1024)}}`, '{"x":1}', 'x'.repeat(60_000)])
      expect((await cancel(crypto.randomUUID(), key, body)).status).toBe(400)
  })
})
