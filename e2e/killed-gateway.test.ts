import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion } from '../packages/server/testing/fakes/scripted-upstream.ts'
import { PRICED_CHAT, USED } from '../packages/server/testing/harness/limited-app.ts'
import { redisProgram } from '../packages/server/testing/harness/redis.ts'
import { type Fleet, type Gateway, openFleet } from './fleet.ts'

describe.skipIf(redisProgram === undefined)('a gateway that shares its limits and is killed', () => {
  let fleet: Fleet
  let gateway: Gateway

  beforeAll(async () => {
    fleet = await openFleet()
  })
  afterAll(async () => {
    await fleet?.close()
  })
  beforeEach(async () => {
    await fleet.limited.reset()
  })

  /** Answers `count` requests and no more. Returns a function that returns the number of requests without an answer. */
  function answerSome(count: number): () => number {
    let left = count
    let hanging = 0
    fleet.limited.upstream.script((res, seen) => {
      if (left-- > 0) return void completion('hello', { usage: USED })(res, seen)
      hanging++
    })
    return () => hanging
  }

  /** The usage of a key in the usage ledger. */
  async function sums(keyId: string): Promise<{ usd: number; tokens: number; requests: number }> {
    const { rows } = await fleet.limited.app.database.pool.query(
      `select coalesce(sum(cost_nano_usd), 0)::float8 / 1e9 as usd, count(*) filter (where status < 400 or uncached_input_tokens + output_tokens > 0)::integer as requests,
        coalesce(sum(uncached_input_tokens + cache_read_tokens + cache_write_tokens + output_tokens
          + reasoning_tokens), 0)::integer as tokens
      from usage_records where key_id = $1`,
      [keyId],
    )
    return rows[0]
  }

  test('returns its reservations after a restart: budget, quotas and limits equal the usage ledger', async () => {
    const { limited } = fleet
    const { app } = limited
    const { key, budget } = await limited.freshKey(100)
    const keyId = (await budget()).scope_ref
    const ofKey = { scope: 'key', scope_ref: keyId }
    await limited.limit('quotas', { ...ofKey, metric: 'tokens', window: 'month', limit: 1e9 })
    await limited.limit('quotas', { ...ofKey, metric: 'requests', window: 'month', limit: 1000 })
    await limited.limit('limits', { ...ofKey, metric: 'concurrency', limit: 4 })
    const hanging = answerSome(3)
    gateway = await fleet.start(1)
    for (let count = 0; count < 3; count++) expect((await gateway.call(PRICED_CHAT, key)).status).toBe(200)
    const running = Array.from({ length: 4 }, () => gateway.call(PRICED_CHAT, key).catch(() => undefined))
    await expect.poll(hanging, { timeout: 30_000 }).toBe(4)
    expect(await budget()).toMatchObject({ spent_usd: 0.15, reserved_usd: 0.2 })
    await gateway.kill()
    await Promise.all(running)
    // No other process knows of the kill yet.
    expect(await budget()).toMatchObject({ spent_usd: 0.15, reserved_usd: 0.2 })
    expect((await app.call('/v1/chat', PRICED_CHAT, { key })).status).toBe(429)

    gateway = await fleet.start(1)
    await expect.poll(async () => (await budget()).reserved_usd, { timeout: 60_000 }).toBe(0)
    const ledger = await sums(keyId)
    // Three requests of 1,010 tokens, and four with a reservation of 1,000 output and 5 input tokens.
    expect(ledger).toEqual({ usd: 0.35, requests: 7, tokens: 3 * 1010 + 4 * 1005 })
    expect(await budget()).toMatchObject({ spent_usd: 0.35, reserved_usd: 0 })
    const used = (await limited.list('quotas')).map(({ metric, used }) => [metric, used])
    expect(Object.fromEntries(used)).toEqual({ tokens: ledger.tokens, requests: ledger.requests })
    limited.upstream.script(completion('hello', { usage: USED }))
    const again = await Promise.all(Array.from({ length: 4 }, () => gateway.call(PRICED_CHAT, key)))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    // A second restart finds nothing to settle again.
    await expect.poll(async () => (await sums(keyId)).requests).toBe(11)
    const before = await budget()
    await gateway.kill()
    gateway = await fleet.start(1)
    await expect.poll(async () => (await gateway.call(PRICED_CHAT, key)).status).toBe(200)
    await expect.poll(async () => (await sums(keyId)).usd).toBeCloseTo(before.spent_usd + 0.05, 9)
    expect((await budget()).spent_usd).toBeCloseTo(before.spent_usd + 0.05, 9)
    await gateway.kill()
  }, 300_000)

  test('returns its concurrency slots after a restart if requests reserve neither tokens nor money', async () => {
    const { limited } = fleet
    const { id, key } = await limited.app.createKey({})
    const ofKey = { scope: 'key', scope_ref: id }
    await limited.limit('quotas', { ...ofKey, metric: 'requests', window: 'month', limit: 1000 })
    await limited.limit('limits', { ...ofKey, metric: 'concurrency', limit: 2 })
    const hanging = answerSome(1)
    gateway = await fleet.start(2)
    expect((await gateway.call(PRICED_CHAT, key)).status).toBe(200)
    const running = [0, 1].map(() => gateway.call(PRICED_CHAT, key).catch(() => undefined))
    await expect.poll(hanging, { timeout: 30_000 }).toBe(2)
    await gateway.kill()
    await Promise.all(running)
    expect((await limited.app.call('/v1/chat', PRICED_CHAT, { key })).status).toBe(429)
    limited.upstream.script(completion('hello', { usage: USED }))
    gateway = await fleet.start(2)
    await expect
      .poll(async () => (await limited.app.call('/v1/chat', PRICED_CHAT, { key })).status, {
        timeout: 60_000,
      })
      .toBe(200)
    await expect.poll(async () => (await sums(id)).requests, { timeout: 30_000 }).toBe(4)
    expect((await limited.list('quotas'))[0].used).toBe(4)
    await gateway.kill()
  }, 300_000)
})
