import type { Socket } from 'node:net'
import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp } from '../../testing/harness/app.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { openRaw } from '../../testing/harness/raw-connection.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'

/** Callers of the control plane that ask for much and read nothing. */

const MiB = 1024 * 1024
/** A page of 250 rows then takes 10 MiB as CSV, and the file four times as much as the kernel takes for who does not read. */
const METADATA_BYTES = 40 * 1024
const ROWS = 1_000
const FILE_BYTES = ROWS * METADATA_BYTES
const MANY = 12
/** A caller that is alone gets 40 of the 64 MiB: 4 pages of a file, or 9 of JSON with 100 rows. */
const ANSWER_BYTES = 64 * MiB
const SHARE_BYTES = 40 * MiB
const SOON = { timeout: 60_000 }

const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Asks over a connection of its own and reads nothing until `read`, which resolves with how many bytes came. */
async function askUnread(
  url: string,
  path: string,
  key: string,
  accept: string,
): Promise<() => Promise<number>> {
  const { socket } = await openRaw(url)
  sockets.push(socket)
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.pause()
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nAccept: ${accept}\r\n` +
      'Connection: close\r\n\r\n',
  )
  return async () => {
    socket.resume()
    await closed
    return socket.bytesRead
  }
}

async function fillLog(
  pool: Pool,
  environment: Parameters<typeof requestRecord>[0],
  newId: () => string,
): Promise<void> {
  const at = Date.now() - 60_000
  const metadata = { text: 'x'.repeat(METADATA_BYTES) }
  const made = Array.from({ length: ROWS }, (_, n) =>
    requestRecord(environment, newId(), at - n, { metadata }),
  )
  for (let from = 0; from < ROWS; from += 100) await insertRecords(pool, made.slice(from, from + 100))
}

/** Transactions that run or wait for the program. Those of jobs end by themselves. */
async function countTransactions(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select count(*)::int as open from pg_stat_activity
      where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
  )
  return rows[0].open
}

describe('many callers of one organization that do not read', () => {
  let plane: ControlPlane
  let tenant: Tenant
  let other: Tenant
  beforeAll(async () => {
    plane = await openControlPlane({}, { bodyTimeoutMs: 60_000, answerBytes: ANSWER_BYTES })
    tenant = await plane.insertTenant('unread')
    other = await plane.insertTenant('other')
    await fillLog(plane.database.pool, tenant.development, plane.newId)
  })
  afterAll(() => plane.close())

  const logs = () => `/v1/environments/${tenant.development.id}/logs`

  test.each([
    ['a file', 'text/csv', '', 4, FILE_BYTES],
    ['a page', 'application/json', '?limit=100', 9, 100 * METADATA_BYTES],
  ])(
    'hold only their share of memory and no transaction for %s, and delay no other caller',
    async (...row) => {
      const [, accept, query, kept, bytes] = row
      const before = plane.answers.dropped
      const reads = await Promise.all(
        Array.from({ length: MANY }, () => askUnread(plane.url, logs() + query, tenant.keys.viewer, accept)),
      )
      await expect.poll(() => plane.answers.dropped, SOON).toBe(before + MANY - kept)
      expect(plane.answers.held).toBeLessThan(SHARE_BYTES)
      await expect.poll(() => countTransactions(plane.database.pool), SOON).toBe(0)
      const served = await plane.call('GET', `/v1/environments/${other.development.id}/logs`, {
        key: other.keys.viewer,
      })
      expect(served.outcome).toBe('200')
      const sizes = await Promise.all(reads.map(read => read()))
      expect(sizes.filter(size => size > bytes)).toHaveLength(kept)
      await expect.poll(() => plane.answers.held, SOON).toBe(0)
      // Who reads gets everything.
      const file = await plane.call('GET', logs(), {
        key: tenant.keys.viewer,
        headers: { accept: 'text/csv' },
      })
      expect(file.text.length).toBeGreaterThan(FILE_BYTES)
    },
  )

  test('leave none to a page of another caller of theirs, which is refused with 429 control_rate_limit_exceeded', async () => {
    for (let at = 0; at < 4; at++) await askUnread(plane.url, logs(), tenant.keys.viewer, 'text/csv')
    await expect.poll(() => plane.answers.held, SOON).toBeGreaterThan(SHARE_BYTES - MiB)
    const refused = await plane.call('GET', logs(), {
      key: tenant.keys.developer,
      headers: { accept: 'text/csv' },
    })
    expect(refused.outcome).toBe('429 control_rate_limit_exceeded')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('content-type')).toMatch(/^application\/json/)
  })
})

test('a download whose caller does not read is ended after the send time-out', async () => {
  const app = await openTestApp({ RIDEAU_SEND_TIMEOUT_SECONDS: '1' })
  try {
    const { pool } = app.database
    const { rows } = await pool.query('select * from environments where id = $1', [app.developmentId])
    await fillLog(pool, rows[0], () => crypto.randomUUID())
    const countEnded = async () => {
      const text = await (await fetch(`${app.metricsUrl}/metrics`)).text()
      return Number(/^rideau_send_timeouts_total (\d+)$/m.exec(text)?.[1])
    }
    const path = `/v1/environments/${app.developmentId}/logs`
    const read = await askUnread(app.controlUrl, path, app.managementKey, 'text/csv')
    await expect.poll(countEnded, SOON).toBe(1)
    expect(await read()).toBeLessThan(FILE_BYTES)
    await expect.poll(() => countTransactions(pool), SOON).toBe(0)
  } finally {
    await app.close()
  }
})
