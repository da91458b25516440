import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  cutStream,
  DONE,
  json,
  stream,
  usageChunk,
} from '../../testing/fakes/scripted-upstream.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT } from '../../testing/harness/limited-app.ts'
import { LEDGERS, type LedgerHome } from '../../testing/harness/on-both-ledgers.ts'

const REQUESTS = 400
const WORKERS = 16

/** Random numbers that are the same in every run. */
function openDice(): () => number {
  let state = 7
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

describe.each(LEDGERS)('%s', (_ledger, openHome) => {
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

  test('counters equal the usage ledger and nothing stays reserved while three of ten callers disconnect at random', async () => {
    const { app, upstream } = limited
    const { key, budget } = await limited.freshKey(1_000)
    const ofKey = { scope: 'key', scope_ref: (await budget()).scope_ref }
    const quota = { ...ofKey, window: 'month', limit: 1e9 }
    await limited.limit('quotas', { ...quota, metric: 'tokens' })
    await limited.limit('quotas', { ...quota, metric: 'requests' })
    await limited.limit('limits', { ...ofKey, metric: 'concurrency', limit: WORKERS })
    const dice = openDice()
    const usage = { prompt_tokens: 9, completion_tokens: 30, total_tokens: 39 }
    upstream.script(async (res, seen) => {
      const isStream = seen.body.stream === true
      const lot = dice()
      if (lot < 0.1) return json(500, { error: { message: 'no' } })(res, seen)
      if (lot < 0.15) return void res.destroy()
      if (isStream && lot < 0.25)
        return cutStream(chunk({ content: 'a' }), chunk({ content: 'b' }))(res, seen)
      if (isStream)
        return stream(chunk({ content: 'a' }), chunk({}, 'stop'), usageChunk(usage), DONE)(res, seen)
      return completion('hello', { usage })(res, seen)
    })
    let left = REQUESTS
    const statuses = new Map<number, number>()
    const note = (status: number): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const abort = new AbortController()
        if (dice() < 0.3) setTimeout(() => abort.abort(), dice() * 20)
        try {
          const response = await fetch(`${app.gatewayUrl}/v1/chat`, {
            method: 'POST',
            signal: abort.signal,
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ ...PRICED_CHAT, stream: dice() < 0.5 }),
          })
          note(response.status)
          await response.text()
        } catch {
          note(0)
        }
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    const { pool } = app.database
    /**
     * Compares the counters with the usage ledger. Requests of disconnected callers may still run, so this is repeated
     * until they agree.
     */
    const compare = async (): Promise<unknown[]> => {
      const { rows } = await pool.query(
        `select metric, sum(amount)::bigint::text as used from usage_records u, lateral (values
          ('nano_usd', u.cost_nano_usd),
          ('tokens', u.uncached_input_tokens + u.output_tokens),
          ('requests', (u.status < 400 or u.uncached_input_tokens + u.output_tokens > 0)::integer)) as m(metric, amount)
        where key_id = $1 group by metric`,
        [ofKey.scope_ref],
      )
      const { spent_usd, reserved_usd } = await budget()
      const shown = [{ metric: 'nano_usd', used: Math.round(spent_usd * 1e9), reserved: reserved_usd }]
      return [...shown, ...(await limited.list('quotas'))].map(({ metric, used, reserved }) => {
        const sum = Number(rows.find(row => row.metric === metric)?.used)
        return {
          metric,
          isSpent: used > 0,
          agrees: used === sum || `${used} counted, ${sum} in the ledger`,
          reserved,
        }
      })
    }
    const agreed = ['nano_usd', 'tokens', 'requests'].map(metric => ({
      metric,
      isSpent: true,
      agrees: true,
      reserved: 0,
    }))
    await expect.poll(compare, { timeout: 20_000 }).toEqual(expect.arrayContaining(agreed))
    // No request is refused while there is room, and every outcome occurs.
    expect(statuses.get(402) ?? 0).toBe(0)
    expect(statuses.get(500) ?? 0).toBe(0)
    expect(limited.deps.reservations.size).toBe(0)
    expect(statuses.get(0) ?? 0).toBeGreaterThan(20)
    expect(statuses.get(200) ?? 0).toBeGreaterThan(100)
  }, 120_000)
})
