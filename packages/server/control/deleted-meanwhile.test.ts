import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../storage/pool.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { untilLockWait } from '../testing/harness/lock-wait.ts'

/** Calls that name or belong to what another call deletes at the same time. */

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  tenant = await plane.insertTenant('acme')
})
afterAll(() => plane.close())

/** Sends the call once `deletion` was made but not committed, and commits it while the call waits for it. */
async function callDuring(
  deletion: string,
  id: string,
  method: 'POST' | 'DELETE',
  route: string,
  body?: object,
): Promise<string> {
  const pool = openPool(plane.database.connection, () => {}, { max: 2 })
  const deleter = await pool.connect()
  try {
    await deleter.query('begin')
    await deleter.query(deletion, [id])
    const answer = plane.call(method, route, { key: tenant.keys.admin, ...(body && { body }) })
    await untilLockWait(pool)
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
  const deletion = 'delete from plans where id = $1'
  const outcome = await callDuring(deletion, id, 'POST', `${environment}/end-users`, endUser)
  expect(outcome).toBe('404 resource_not_found')
})

const environmentRoute = (): string => `/v1/environments/${tenant.development.id}`
const DELETED = 'delete from %s where id = $1'
const MARKED = 'update %s set deleted_at = now() where id = $1'

test.each([
  [
    'limits',
    DELETED,
    environmentRoute,
    { scope: 'environment', metric: 'requests', limit: 1, window_seconds: 60 },
  ],
  [
    'quotas',
    DELETED,
    environmentRoute,
    { scope: 'environment', metric: 'requests', limit: 1, window: 'day' },
  ],
  ['plans', DELETED, environmentRoute, { name: 'basic' }],
  ['end-users', DELETED, environmentRoute, { external_id: 'bob' }],
  [
    'model-aliases',
    DELETED,
    environmentRoute,
    { alias: 'fast', strategy: 'priority', targets: [{ model: 'sandbox/echo' }] },
  ],
  ['custom-models', DELETED, environmentRoute, { model: 'custom/m', capabilities: ['chat'] }],
  [
    'provider-credentials',
    DELETED,
    environmentRoute,
    { provider: 'openai', name: 'main', api_key: 'sk-0123456789' },
  ],
  ['budgets', DELETED, () => `/v1/projects/${tenant.project.id}`, { limit_usd: 1, window: 'month' }],
  [
    'webhooks',
    DELETED,
    () => `/v1/orgs/${tenant.organization.id}`,
    { url: 'https://example.com/', events: ['budget.alert'] },
  ],
  ['projects', MARKED, () => `/v1/orgs/${tenant.organization.id}`, { name: 'Second' }],
] as const)(
  '404 and no audit entry for the second of two deletions of one of %s',
  async (kind, deletion, owner, body) => {
    const created = await plane.call<{ id: string }>('POST', `${owner()}/${kind}`, {
      key: tenant.keys.admin,
      body,
    })
    expect(created.status).toBe(201)
    const { id } = created.json
    const table = kind.replaceAll('-', '_')
    const outcome = await callDuring(deletion.replace('%s', table), id, 'DELETE', `/v1/${kind}/${id}`)
    expect(outcome).toBe('404 resource_not_found')
    const { rows } = await plane.database.pool.query(
      'select operation from audit_log where resource_id = $1',
      [id],
    )
    expect(rows.map(row => row.operation)).not.toContain(`${table}.delete`)
  },
)
