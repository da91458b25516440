import { expect, test } from 'vitest'
import { json } from '../../testing/fakes/scripted-upstream.ts'
import { openLimitedApp, PRICED_CHAT } from '../../testing/harness/limited-app.ts'

const ECHO_CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }

test.each([
  ['refuse', 500],
  ['accept', 200],
] as const)(
  'while the database is unreachable and the journal is full: %s',
  async (policy, status) => {
    const limited = await openLimitedApp({ RIDEAU_JOURNAL_MAX_BYTES: '2000', RIDEAU_JOURNAL_FULL: policy })
    const { app } = limited
    await limited.reset()
    try {
      const ready = async () => {
        const response = await fetch(`${app.gatewayUrl}/readyz`)
        return { status: response.status, text: await response.text() }
      }
      const ids: string[] = []
      const ask = async () => {
        const response = await app.call('/v1/chat', PRICED_CHAT)
        if (response.status === 200) ids.push(response.headers.get('x-request-id') as string)
        return response
      }
      // No record can be written while its table has another name.
      await app.database.pool.query('alter table request_logs rename to away')
      for (let i = 0; i < 5; i++) await ask()
      const response = await ask()
      expect(response.status).toBe(status)
      if (policy === 'refuse') {
        expect(response.headers.get('retry-after')).toBe('5')
        expect(((await response.json()) as any).error.code).toBe('config_unavailable')
      }
      const full = await ready()
      expect(full.status).toBe(policy === 'refuse' ? 503 : 200)
      expect(full.text).toContain('the journal is full')
      await app.database.pool.query('alter table away rename to request_logs')
      await expect
        .poll(async () => (await ready()).text, { timeout: 20_000 })
        .not.toContain('journal is full')
      expect((await ask()).status).toBe(200)
      for (const id of ids) expect((await app.findLog(id)).status).toBe(200)
    } finally {
      await limited.close()
    }
  },
  60_000,
)

test('refused requests leave room in the journal for paid ones while the database is unreachable', async () => {
  const limited = await openLimitedApp({ RIDEAU_JOURNAL_MAX_BYTES: '60000' })
  const { app } = limited
  await limited.reset()
  try {
    await app.database.pool.query('alter table request_logs rename to away')
    const refused: string[] = []
    for (let i = 0; i < 300; i++) {
      const response = await app.call('/v1/chat', { ...ECHO_CHAT, model: 'nobody/knows' })
      expect(response.status).toBe(404)
      refused.push(response.headers.get('x-request-id') as string)
    }
    const served = await app.call('/v1/chat', PRICED_CHAT)
    expect(served.status).toBe(200)
    const metrics = await (await fetch(`${app.metricsUrl}/metrics`)).text()
    const shed = Number(/^rideau_records_shed_total (\d+)$/m.exec(metrics)?.[1])
    expect(shed).toBeGreaterThan(100)
    await app.database.pool.query('alter table away rename to request_logs')
    expect((await app.findLog(served.headers.get('x-request-id') as string)).status).toBe(200)
    const { rows } = await app.database.pool.query<{ count: number }>(
      'select count(*) from request_logs where request_id = any ($1)',
      [refused],
    )
    expect(Number(rows[0]?.count)).toBe(refused.length - shed)
  } finally {
    await limited.close()
  }
}, 60_000)

test('requests that a provider rejects leave room in the journal for paid ones', async () => {
  const limited = await openLimitedApp({ RIDEAU_JOURNAL_MAX_BYTES: '200000' })
  const { app, upstream } = limited
  try {
    await app.database.pool.query('alter table request_logs rename to away')
    const long = { messages: [{ role: 'user', content: 'x'.repeat(32_768) }] }
    upstream.script(json(400, { error: { message: 'no' } }))
    for (let i = 0; i < 200; i++)
      expect((await app.call('/v1/chat', { ...PRICED_CHAT, ...long })).status).toBe(400)
    await limited.reset()
    const paid = await app.call('/v1/chat', PRICED_CHAT)
    expect(paid.status).toBe(200)
    await app.database.pool.query('alter table away rename to request_logs')
    expect((await app.findLog(paid.headers.get('x-request-id') as string)).cost_usd).toBe(0.05)
  } finally {
    await limited.close()
  }
}, 60_000)

test('an organization whose paid requests fill the journal is refused with 500 config_unavailable while there is space for others', async () => {
  const limited = await openLimitedApp({ RIDEAU_JOURNAL_MAX_BYTES: '100000' })
  const { app } = limited
  await limited.reset()
  try {
    await app.database.pool.query('alter table request_logs rename to away')
    let response = await app.call('/v1/chat', PRICED_CHAT)
    for (let i = 0; i < 200 && response.status === 200; i++)
      response = await app.call('/v1/chat', PRICED_CHAT)
    expect([response.status, response.headers.get('retry-after')]).toEqual([500, '5'])
    expect((await fetch(`${app.gatewayUrl}/readyz`)).status).toBe(200)
    await app.database.pool.query('alter table away rename to request_logs')
    await expect
      .poll(async () => (await app.call('/v1/chat', PRICED_CHAT)).status, { timeout: 20_000 })
      .toBe(200)
  } finally {
    await limited.close()
  }
}, 60_000)
