import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { openOptions } from '../../storage/secrets/secret-options.ts'
import { type ControlPlane, openControlPlane } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { openAlerts, openJobs } from './jobs.ts'

type Closers = (() => Promise<void> | void)[]

async function startJobs({ database, newId, secretBox }: ControlPlane, closers: Closers): Promise<void> {
  const storage = { ...database, recordPool: database.pool, close: async () => {} }
  const log = pino({ level: 'silent' })
  const egress = openConfiguredEgress({ allowPrivate: true, dnsServers: undefined })
  await openJobs({ storage, log, secretBox, newId, egress, idempotencyBytes: 1_000_000, closers })
}

test('raises at the start the alerts that a killed process could not store, including those of its journal', async () => {
  const plane = await openControlPlane()
  const { database, newId } = plane
  const body = { limit_usd: 1, window: 'total', alert_pcts: [50] }
  // One whose usage cannot be read hides no alert of those that follow.
  const broken = await plane.insertTenant('broken')
  const daily = { ...body, window: 'day' }
  await plane.call('POST', `/v1/projects/${broken.project.id}/budgets`, {
    key: broken.keys.admin,
    body: daily,
  })
  await database.pool.query(`update organizations set time_zone = 'Nowhere/Land' where id = $1`, [
    broken.organization.id,
  ])
  // Nor do ended deliveries that cannot be removed.
  await database.pool.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create trigger fail before delete on webhook_deliveries for each statement execute function fail()`,
  )
  const tenant = await plane.insertTenant('killed')
  const budgets = `/v1/projects/${tenant.project.id}/budgets`
  const made = await plane.call<{ id: string }>('POST', budgets, { key: tenant.keys.admin, body })
  const storage = { ...database, recordPool: database.pool, close: async () => {} }
  const raised = async (): Promise<unknown[]> => {
    const text = `select after->>'budget_id' as id from audit_log where operation = 'budget.alert'`
    return (await database.pool.query(text)).rows
  }
  const settle = async (): Promise<void> => {
    const at = plane.clock.now() + 1
    const spent = { cost_nano_usd: 600_000_000, sandbox: false }
    await insertRecords(database.pool, [requestRecord(tenant.development, newId(), at, spent)])
  }
  const alerts = openAlerts({ storage, log: pino({ level: 'silent' }) }, newId, settle)
  try {
    for (const end = Date.now() + 10_000; Date.now() < end && (await raised()).length === 0; ) {
      await new Promise(resolve => setTimeout(resolve, 25))
    }
    expect(await raised()).toEqual([{ id: made.json.id }])
  } finally {
    await alerts.close()
    await plane.close()
  }
})

test('after the start the row of a deleted plan, and what end users still name it, goes', async () => {
  const plane = await openControlPlane()
  const { database } = plane
  const tenant = await plane.insertTenant('plans')
  const { key, path } = { key: tenant.keys.developer, path: `/v1/environments/${tenant.development.id}` }
  const { json } = await plane.call<{ id: string }>('POST', `${path}/plans`, { key, body: { name: 'free' } })
  await plane.call('POST', `${path}/end-users`, { key, body: { external_id: 'ann', plan: 'free' } })
  await plane.call('DELETE', `/v1/plans/${json.id}`, { key })
  const closers: Closers = []
  const read = async () => {
    const text = `select (select count(*) from plans) as plans, (select plan_id from end_users) as named`
    return (await database.pool.query(text)).rows
  }
  try {
    expect(await read()).toEqual([{ plans: 1, named: json.id }])
    await startJobs(plane, closers)
    await vi.waitUntil(async () => (await read())[0].plans === 0, { timeout: 10_000 })
    expect(await read()).toEqual([{ plans: 0, named: null }])
  } finally {
    for (const close of closers) await close()
    await plane.close()
  }
})

test('after the start no secret option of an earlier version is stored in clear', async () => {
  const plane = await openControlPlane()
  const { database, secretBox } = plane
  const tenant = await plane.insertTenant('upgraded')
  const id = await plane.insertCredential(tenant, 'k')
  const options = { region: 'eu-west-1', session_token: 'in clear' }
  await database.pool.query(
    `update provider_credentials set provider = 'bedrock', options = $2, refresh_at = null where id = $1`,
    [id, JSON.stringify(options)],
  )
  const closers: Closers = []
  try {
    await startJobs(plane, closers)
    const { rows } = await database.pool.query(
      'select options, options_cipher from provider_credentials where id = $1',
      [id],
    )
    expect(rows[0].options).toEqual({ region: 'eu-west-1' })
    expect(openOptions(secretBox, { id, ...rows[0] })).toEqual(options)
  } finally {
    for (const close of closers) await close()
    await plane.close()
  }
})

test('expired rows of the request log go though expired answers of creates cannot be removed', async () => {
  const plane = await openControlPlane()
  const { database, newId } = plane
  const tenant = await plane.insertTenant('kept')
  const old = requestRecord(tenant.development, newId(), Date.now() - 400 * 86_400_000)
  await insertRecords(database.pool, [old])
  await database.pool.query('alter table idempotent_creates rename to elsewhere')
  const closers: Closers = []
  const count = async (): Promise<number | null> =>
    (await database.pool.query('select from request_logs')).rowCount
  try {
    expect(await count()).toBe(1)
    await startJobs(plane, closers)
    await vi.waitUntil(async () => (await count()) === 0, { timeout: 10_000 })
  } finally {
    for (const close of closers) await close()
    await plane.close()
  }
})
