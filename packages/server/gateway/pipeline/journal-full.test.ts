import { expect, test } from 'vitest'
import { openTestHouse } from '../../testing/harness/app.ts'

const ASK = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }

test.each([
  ['refuse', 500],
  ['accept', 200],
] as const)(
  'while the database is away and the journal is full: %s',
  async (policy, status) => {
    const house = await openTestHouse({ RIDEAU_JOURNAL_MAX_BYTES: '2000', RIDEAU_JOURNAL_FULL: policy })
    try {
      const ready = async () => {
        const response = await fetch(`${house.gatewayUrl}/readyz`)
        return { status: response.status, text: await response.text() }
      }
      const ids: string[] = []
      const ask = async () => {
        const response = await house.call('/v1/chat', ASK)
        if (response.status === 200) ids.push(response.headers.get('x-request-id') as string)
        return response
      }
      // No record can be written while its table has another name.
      await house.database.pool.query('alter table request_logs rename to away')
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
      await house.database.pool.query('alter table away rename to request_logs')
      await expect
        .poll(async () => (await ready()).text, { timeout: 20_000 })
        .not.toContain('journal is full')
      expect((await ask()).status).toBe(200)
      for (const id of ids) expect((await house.findLog(id)).status).toBe(200)
    } finally {
      await house.close()
    }
  },
  60_000,
)
