import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, openPool } from '../storage/pool.ts'
import { inTenantScope } from '../storage/tenant-scope.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { untilLockWait } from '../testing/harness/lock-wait.ts'

/** Calls that the database answers late. */

let plane: ControlPlane
let slow: Tenant
let other: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  slow = await plane.insertTenant('slow')
  other = await plane.insertTenant('other')
})
afterAll(() => plane.close())

test.each(['logs/histogram', 'errors', 'usage', 'logs'])(
  'a viewer whose calls to %s all wait for the database delays no other organization',
  async route => {
    const pool = openPool(plane.database.connection, () => {}, { max: 2 })
    const locker = await pool.connect()
    try {
      await locker.query('begin')
      await locker.query('lock table request_logs, usage_rollups in access exclusive mode')
      const path = `/v1/environments/${slow.development.id}/${route}`
      const calls = Array.from({ length: 30 }, (_, index) =>
        plane.call('GET', path, { key: index % 2 === 0 ? slow.keys.viewer : slow.keys.developer }),
      )
      let answered = 0
      for (const call of calls) void call.then(() => answered++)
      await untilLockWait(pool, 3)
      const own = `/v1/orgs/${other.organization.id}`
      const key = other.keys.viewer
      for (let count = 0; count < 20; count++)
        expect((await plane.call('GET', own, { key })).outcome).toBe('200')
      expect(answered).toBe(0)
      await untilLockWait(pool, 3)
      await locker.query('rollback')
      const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome)
      expect(new Set(outcomes)).toEqual(new Set(['200']))
    } finally {
      locker.release(true)
      await pool.end()
    }
  },
)

test('the server ends a statement of an organization before the pool gives it up', async () => {
  const read = (scoped: Db) =>
    sql<{ timeout: string }>`select current_setting('statement_timeout') as timeout`.execute(scoped)
  const { rows } = await inTenantScope(plane.database.db, [slow.organization.id], read)
  expect(rows).toEqual([{ timeout: '28500ms' }])
})
