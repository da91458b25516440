import { expect, test } from 'vitest'
import { openTestApp } from '../../testing/harness/app.ts'

const ECHO_CHAT = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }

test.each([
  ['refuse', 500],
  ['accept', 200],
] as const)(
  'while the database is unreachable and the journal is full: %s',
  async (policy, status) => {
    const app = await openTestApp({ RIDEAU_JOURNAL_MAX_BYTES: '2000', RIDEAU_JOURNAL_FULL: policy })
    try {
      const ready = async () => {
        const response = await fetch(`${app.gatewayUrl}/readyz`)
        return { status: response.status, text: await response.text() }
      }
      const ids: string[] = []
      const ask = async () => {
        const response = await app.call('/v1/chat', ECHO_CHAT)
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
      await app.close()
    }
  },
  60_000,
)

test('refused requests leave room in the journal for served ones while the database is unreachable', async () => {
  const app = await openTestApp({ RIDEAU_JOURNAL_MAX_BYTES: '60000' })
  try {
    await app.database.pool.query('alter table request_logs rename to away')
    const refused: string[] = []
    for (let i = 0; i < 300; i++) {
      const response = await app.call('/v1/chat', { ...ECHO_CHAT, model: 'nobody/knows' })
      expect(response.status).toBe(404)
      refused.push(response.headers.get('x-request-id') as string)
    }
    const served = await app.call('/v1/chat', ECHO_CHAT)
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
    await app.close()
  }
}, 60_000)
