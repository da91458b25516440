import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type ControlPlane,
  type List,
  openControlPlane,
  type Tenant,
} from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { CREDENTIAL_REJECTED, markCredentialRejected } from '../models/credential-validation.ts'
import { openDatabase, openPool } from '../pool.ts'
import type { SettledMeter } from './alert-policies.ts'
import { AlertSweep } from './alert-sweep.ts'
import { raiseAlerts, removeEndedAlerts } from './alerts.ts'

const DAY_MS = 86_400_000

let plane: ControlPlane
let tenant: Tenant
beforeAll(async () => {
  plane = await openControlPlane()
  plane.clock.advance(Date.parse('2031-05-14T10:30:00Z') - plane.clock.now())
})
afterAll(() => plane.close())
beforeEach(async () => {
  tenant = await plane.insertTenant('acme')
})

const deps = () => ({ clock: plane.clock, newId: plane.newId })

async function create(kind: 'budgets' | 'quotas', body: object): Promise<any> {
  const owner = kind === 'budgets' ? `projects/${tenant.project.id}` : `environments/${tenant.development.id}`
  const made = await plane.call<any>('POST', `/v1/${owner}/${kind}`, { key: tenant.keys.admin, body })
  expect(made.outcome).toBe('201')
  return made.json
}

async function insertUsage(costNanoUsd: number): Promise<void> {
  const record = requestRecord(tenant.development, plane.newId(), plane.clock.now(), {
    cost_nano_usd: costNanoUsd,
    sandbox: false,
  })
  await insertRecords(plane.database.pool, [record])
}

/** What a sweep finds for the tenant's organization. undefined: whether it has usage or not. */
async function listReached(since?: Date, sweep = new AlertSweep(plane.database)): Promise<SettledMeter[]> {
  const reached: SettledMeter[] = []
  for await (const settled of sweep.run(since, plane.clock.now())) {
    if (settled.meter.subject.orgId === tenant.organization.id) reached.push(settled)
  }
  return reached
}

async function raiseAll(): Promise<number[]> {
  const raised: number[] = []
  for (const settled of await listReached()) {
    raised.push(...(await raiseAlerts(plane.database.db, settled, deps())))
  }
  return raised
}

async function listSystemEntries(): Promise<any[]> {
  const page = await plane.call<List<any>>('GET', `/v1/orgs/${tenant.organization.id}/audit-log`, {
    key: tenant.keys.viewer,
  })
  return page.json.data.filter(({ actor }) => actor.kind === 'system')
}

test('raises each percentage of a budget once a window, however often it is checked, and again in the next window', async () => {
  const budget = await create('budgets', { limit_usd: 1, window: 'day', alert_pcts: [50, 80, 100] })
  await insertUsage(499_999_999)
  expect(await raiseAll()).toEqual([])
  await insertUsage(1)
  expect([await raiseAll(), await raiseAll()]).toEqual([[50], []])
  await insertUsage(500_000_000)
  expect([await raiseAll(), await raiseAll()]).toEqual([[80, 100], []])
  const [entry] = (await listSystemEntries()).filter(({ after }) => after.alert_pct === 100)
  expect(entry).toMatchObject({
    actor: { kind: 'system', id: null, name: null },
    operation: 'budget.alert',
    resource: { kind: 'budgets', id: budget.id },
    before: null,
    after: {
      budget_id: budget.id,
      org_id: tenant.organization.id,
      project_id: tenant.project.id,
      scope: null,
      scope_ref: null,
      window: 'day',
      alert_pct: 100,
      limit_usd: 1,
      spent_usd: 1,
    },
    client_address: '',
  })
  expect(Date.parse(entry.after.resets_at) - Date.parse(entry.after.window_start)).toBe(DAY_MS)
  plane.clock.advance(DAY_MS)
  expect(await raiseAll()).toEqual([])
  await insertUsage(600_000_000)
  expect(await raiseAll()).toEqual([50])
  expect(await listSystemEntries()).toHaveLength(4)
})

test('raises a quota with grace once a window when usage exceeds its limit, and a quota without grace never', async () => {
  const quota = { scope: 'environment', metric: 'requests', window: 'day', limit: 2 }
  const { id } = await create('quotas', { ...quota, grace_pct: 50 })
  await create('quotas', quota)
  await insertUsage(1)
  await insertUsage(1)
  expect(await raiseAll()).toEqual([])
  await insertUsage(1)
  expect([await raiseAll(), await raiseAll()]).toEqual([[100], []])
  expect(await listSystemEntries()).toMatchObject([
    {
      operation: 'quota.alert',
      resource: { kind: 'quotas', id },
      after: { quota_id: id, metric: 'requests', limit: 2, grace_pct: 50, used: 3 },
    },
  ])
})

test('raises an alert once when two processes report it at once, with one delivery for each subscribed webhook', async () => {
  const path = `/v1/orgs/${tenant.organization.id}/webhooks`
  for (const events of [['budget.alert'], ['budget.alert', 'quota.alert'], ['quota.alert']]) {
    await plane.call('POST', path, {
      key: tenant.keys.admin,
      body: { url: 'https://hooks.example.com', events },
    })
  }
  await create('budgets', { limit_usd: 1, window: 'total', alert_pcts: [1, 2, 3] })
  await insertUsage(30_000_000)
  const [settled] = await listReached()
  if (settled === undefined) throw new Error('no meter has reached a threshold')
  const pools = [1, 2].map(() => openPool(plane.database.connection, () => {}))
  try {
    const raised = await Promise.all(
      [0, 1, 0, 1, 0, 1].map(index =>
        raiseAlerts(openDatabase(pools[index] as (typeof pools)[number]), settled, deps()),
      ),
    )
    expect(raised.flat().sort()).toEqual([1, 2, 3])
  } finally {
    for (const pool of pools) await pool.end()
  }
  expect(await listSystemEntries()).toHaveLength(3)
  const deliveries = plane.database.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('org_id', '=', tenant.organization.id)
  expect(await deliveries.execute()).toHaveLength(6)
})

test('raises nothing for a budget that was increased or removed after the meter was read', async () => {
  const { id } = await create('budgets', { limit_usd: 1, window: 'day', alert_pcts: [50] })
  await insertUsage(500_000_000)
  const [settled] = await listReached()
  if (settled === undefined) throw new Error('no meter has reached a threshold')
  const one = `/v1/budgets/${id}`
  await plane.call('PATCH', one, { key: tenant.keys.admin, body: { limit_usd: 2 } })
  expect(await raiseAlerts(plane.database.db, settled, deps())).toEqual([])
  await plane.call('DELETE', one, { key: tenant.keys.admin })
  expect(await raiseAlerts(plane.database.db, settled, deps())).toEqual([])
  expect(await listReached()).toEqual([])
})

test('sweeps organizations with usage since a time, without deleted ones', async () => {
  const { db } = plane.database
  await create('budgets', { limit_usd: 1, window: 'total', alert_pcts: [50] })
  const isSwept = async (ms: number | undefined): Promise<boolean> => {
    const since = ms === undefined ? undefined : new Date(plane.clock.now() - ms)
    return (await listReached(since)).length > 0
  }
  await insertUsage(600_000_000)
  expect([await isSwept(DAY_MS), await isSwept(undefined)]).toEqual([true, true])
  plane.clock.advance(2 * DAY_MS)
  expect([await isSwept(DAY_MS), await isSwept(undefined)]).toEqual([false, true])
  const deleted_at = new Date(plane.clock.now())
  await db.updateTable('organizations').set({ deleted_at }).where('id', '=', tenant.organization.id).execute()
  expect(await isSwept(undefined)).toBe(false)
})

test('reads the rules of an organization in pages, and goes on in the next sweep where its time was over', async () => {
  const { development, organization, project } = tenant
  const count = 1_001
  const ids = Array.from({ length: count }, () => plane.newId())
  await plane.database.pool.query(
    `insert into quotas (id, org_id, project_id, environment_id, scope, metric, "window", "limit", grace_pct, created_at, updated_at)
      select id, $2, $3, $4, 'environment', 'requests', 'day', 1, 100, $5, $5 from unnest($1::uuid[]) id`,
    [ids, organization.id, project.id, development.id, new Date(plane.clock.now())],
  )
  await create('budgets', { limit_usd: 1, window: 'day', alert_pcts: [1] })
  await insertUsage(1_000_000_000)
  await insertUsage(1)
  expect(await listReached()).toHaveLength(count + 1)
  let now = 0
  const takeTime = (): number => {
    now += 30_000
    return now
  }
  const sweep = new AlertSweep(plane.database, { now: takeTime })
  const since = new Date(plane.clock.now() + DAY_MS)
  // All organizations first, then those that the sweep before did not finish.
  const sizes = [(await listReached(undefined, sweep)).length]
  for (let round = 0; round < 4; round++) sizes.push((await listReached(since, sweep)).length)
  expect(sizes).toEqual([1, 500, 500, 1, 0])
})

test('an organization that cannot be read ends no sweep, and is read again in the next one without new usage', async () => {
  const { db } = plane.database
  const { id } = await create('budgets', { limit_usd: 1, window: 'day', alert_pcts: [50] })
  await insertUsage(600_000_000)
  const setZone = (zone: string) =>
    db
      .updateTable('organizations')
      .set({ time_zone: zone })
      .where('id', '=', tenant.organization.id)
      .execute()
  await setZone('Nowhere/Land')
  const failures: string[] = []
  const sweep = new AlertSweep(plane.database, { onFailure: (_, orgIds) => void failures.push(...orgIds) })
  expect(await listReached(undefined, sweep)).toEqual([])
  expect(failures).toEqual([tenant.organization.id])
  await setZone('UTC')
  const since = new Date(plane.clock.now() + DAY_MS)
  expect((await listReached(since, sweep)).map(({ meter }) => meter.source.id)).toEqual([id])
  expect(await listReached(since, sweep)).toEqual([])
  expect(failures).toHaveLength(1)
})

test('counts the time in which alerts are raised against the time of their organization in a sweep', async () => {
  const { development, organization, project } = tenant
  await plane.database.pool.query(
    `insert into quotas (id, org_id, project_id, environment_id, scope, metric, "window", "limit", grace_pct, created_at, updated_at)
      select gen_random_uuid(), $1, $2, $3, 'environment', 'requests', 'day', 1, 100, $4, $4 from generate_series(1, 501)`,
    [organization.id, project.id, development.id, new Date(plane.clock.now())],
  )
  await insertUsage(1)
  await insertUsage(1)
  let now = 0
  const sweep = new AlertSweep(plane.database, { now: () => now })
  const countReached = async (since?: Date): Promise<number> => {
    let reached = 0
    for await (const { meter } of sweep.run(since, plane.clock.now())) {
      if (meter.subject.orgId !== organization.id) continue
      reached++
      now += 50
    }
    return reached
  }
  expect(await countReached()).toBe(500)
  expect(await countReached(new Date(plane.clock.now() + DAY_MS))).toBe(1)
})

test('removes alerts whose window ended before a time, but not those of a window without end', async () => {
  await create('budgets', { limit_usd: 1, window: 'day', alert_pcts: [50] })
  await create('budgets', { limit_usd: 1, window: 'total', alert_pcts: [50] })
  await insertUsage(600_000_000)
  expect(await raiseAll()).toEqual([50, 50])
  await removeEndedAlerts(plane.database.db, new Date(plane.clock.now() + 2 * DAY_MS))
  expect(await raiseAll()).toEqual([50])
})

test('creates one event for a rejected credential, without its secret, until it is valid again', async () => {
  const { db } = plane.database
  const id = await plane.insertCredential(tenant, 'sk-canary-of-this-test')
  const updatedAt = plane.clock.now()
  const mark = (): Promise<void> => markCredentialRejected(db, { id, updatedAt }, CREDENTIAL_REJECTED, deps())
  await Promise.all([mark(), mark()])
  await mark()
  const [entry, ...more] = await listSystemEntries()
  expect(more).toEqual([])
  expect(entry).toMatchObject({
    operation: 'credential.invalid',
    resource: { kind: 'provider_credentials', id },
    after: { provider_credential_id: id, provider: 'openai', environment_id: tenant.development.id },
  })
  expect(JSON.stringify(entry)).not.toContain('canary')
  expect(JSON.stringify(entry)).not.toMatch(/cipher|fingerprint/)
  await db.updateTable('provider_credentials').set({ validation_error: null }).where('id', '=', id).execute()
  await mark()
  expect(await listSystemEntries()).toHaveLength(2)
})
