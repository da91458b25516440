import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openConfiguredEgress } from '../../http/egress/open-egress.ts'
import { openOptions } from '../../storage/secrets/secret-options.ts'
import { openControlPlane } from '../../testing/harness/control-plane.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { openAlerts, openJobs } from './jobs.ts'

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

test('after the start no secret option of an earlier version is stored in clear', async () => {
  const plane = await openControlPlane()
  const { database, newId, secretBox } = plane
  const tenant = await plane.insertTenant('upgraded')
  const id = await plane.insertCredential(tenant, 'k')
  const options = { region: 'eu-west-1', session_token: 'in clear' }
  await database.pool.query(
    `update provider_credentials set provider = 'bedrock', options = $2, refresh_at = null where id = $1`,
    [id, JSON.stringify(options)],
  )
  const closers: (() => Promise<void> | void)[] = []
  const storage = { ...database, recordPool: database.pool, close: async () => {} }
  const log = pino({ level: 'silent' })
  const egress = openConfiguredEgress({ allowPrivate: true, dnsServers: undefined })
  try {
    await openJobs({ storage, log, secretBox, newId, egress, idempotencyBytes: 1_000_000, closers })
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
