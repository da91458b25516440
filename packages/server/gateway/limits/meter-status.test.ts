import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { completion, json, type UpstreamAnswer } from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT, USED } from '../../testing/harness/limited-app.ts'
import { LEDGERS, type LedgerHome } from '../../testing/harness/on-both-ledgers.ts'

/** What a request reserves: $0.05 for its output, and 1,021 tokens with at most 21 of input. */
const RESERVED = { usd: 0.05, tokens: 1021 }

describe.each(LEDGERS)('%s a quota and a budget', (_ledger, openHome) => {
  let home: LedgerHome
  let limited: LimitedApp

  beforeAll(async () => {
    home = await openHome()
    limited = await openLimitedApp(home.env)
  })
  afterAll(async () => {
    await limited?.close()
    await home?.stop()
  })
  beforeEach(async () => {
    await limited.reset()
  })

  /** Returns the usage ledger's sums of a key once it has this many records. */
  async function ledgerOf(keyId: string, records: number) {
    const read = async () =>
      (
        await limited.app.database.pool.query(
          `select count(*)::integer as records,
          count(*) filter (where status < 400 or uncached_input_tokens > 0)::integer as requests,
          coalesce(sum(cost_nano_usd), 0)::float8 / 1e9 as usd,
          coalesce(sum(uncached_input_tokens + output_tokens), 0)::integer as tokens
        from usage_records where key_id = $1`,
          [keyId],
        )
      ).rows[0]
    await expect.poll(async () => (await read()).records, { timeout: 30_000 }).toBe(records)
    return await read()
  }

  test("report used and reserved amounts that equal the usage ledger's sums at every step, and the reset", async () => {
    const { app, upstream } = limited
    const { key, budget } = await limited.freshKey(0.3)
    const keyId = (await budget()).scope_ref
    const own = { scope: 'key', scope_ref: keyId, window: 'month', limit: 1e6 }
    await limited.limit('quotas', { ...own, metric: 'tokens' })
    await limited.limit('quotas', { ...own, metric: 'requests' })
    const waiting: ((answer: UpstreamAnswer) => void)[] = []
    upstream.script(async (res, seen) => {
      const answer = await new Promise<UpstreamAnswer>(resolve => waiting.push(resolve))
      await answer(res, seen)
    })
    const running: Promise<Response>[] = []
    let records = 0
    const expectAll = async (reservations: number): Promise<void> => {
      const ledger = await ledgerOf(keyId, records)
      expect(await budget()).toMatchObject({
        spent_usd: ledger.usd,
        reserved_usd: Math.round(reservations * RESERVED.usd * 100) / 100,
        resets_at: expect.stringMatching(/-01T00:00:00.000Z$/),
      })
      const quotas = await limited.list('quotas')
      const of = (metric: string) => quotas.find(each => each.metric === metric)
      expect(of('tokens')).toMatchObject({ used: ledger.tokens, reserved: reservations * RESERVED.tokens })
      expect(of('requests')).toMatchObject({ used: ledger.requests, reserved: reservations })
      expect(of('tokens').resets_at).toBe((await budget()).resets_at)
    }
    const end = async (answer: UpstreamAnswer): Promise<number> => {
      waiting.shift()?.(answer)
      const response = await (running.shift() as Promise<Response>)
      await response.text()
      records++
      return response.status
    }
    await expectAll(0)
    for (let count = 0; count < 3; count++) running.push(app.call('/v1/chat', PRICED_CHAT, { key }))
    await expect.poll(() => waiting.length).toBe(3)
    await expectAll(3)
    expect(await end(completion('hello', { usage: USED }))).toBe(200)
    await expectAll(2)
    // Less than it reserved, then nothing at all.
    const less = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
    expect(await end(completion('hello', { usage: less }))).toBe(200)
    await expectAll(1)
    expect(await end(json(400, { error: { message: 'no' } }))).toBe(400)
    await expectAll(0)
    // A refusal states what the budget shows.
    for (let count = 0; count < 4; count++) running.push(app.call('/v1/chat', PRICED_CHAT, { key }))
    await expect.poll(() => waiting.length).toBe(4)
    const refused = await app.call('/v1/chat', PRICED_CHAT, { key })
    records++
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    const { spent_usd, reserved_usd } = await budget()
    expect(error.code).toBe('budget_exceeded')
    expect(error.message).toContain(`settled $${spent_usd.toFixed(3)}, held $${reserved_usd.toFixed(2)}`)
    while (running.length > 0) expect(await end(completion('hello', { usage: USED }))).toBe(200)
    await expectAll(0)
  }, 120_000)
})
