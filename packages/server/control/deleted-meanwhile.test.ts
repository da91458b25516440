import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../storage/pool.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'

/** Calls that name or belong to what another call deletes at the same time. */

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())

/** Sends the call once `deletion` was made but not committed, and commits it while the call waits for it. */
async function callDuring(deletion: string, id: string, route: string, body: object): Promise<string> {
  const pool = openPool(plane.database.connection, () => {}, { max: 2 })
  const deleter = await pool.connect()
  try {
    await deleter.query('begin')
    await deleter.query(deletion, [id])
    const answer = plane.call('POST', route, { key: tenant.keys.admin, body })
    const waiting = async (): Promise<number> => {
      const query = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      return (await pool.query(query)).rows.length
    }
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1)
    await deleter.query('commit')
    return (await answer).outcome
  } finally {
    deleter.release(true)
    await pool.end()
  }
}

test('404 resource_not_found for an end user whose plan is deleted meanwhile', async () => {
  const environment = `/v1/environments/${tenant.development.id}`
  const plan = { key: tenant.keys.admin, body: { name: 'pro' } }
  const { id } = (await plane.call<{ id: string }>('POST', `${environment}/plans`, plan)).json
  const endUser = { external_id: 'alice', plan: 'pro' }
  const outcome = await callDuring('delete from plans where id = $1', id, `${environment}/end-users`, endUser)
  expect(outcome).toBe('404 resource_not_found')
})
