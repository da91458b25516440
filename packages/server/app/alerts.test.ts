import { afterAll, beforeAll, expect, test } from 'vitest'
import { completion, json } from '../testing/fakes/scripted-upstream.ts'
import { isSigned, openWebhookReceiver, type WebhookReceiver } from '../testing/fakes/webhook-receiver.ts'
import { type LimitedApp, openLimitedApp, PRICED_CHAT } from '../testing/harness/limited-app.ts'

let limited: LimitedApp
let receiver: WebhookReceiver
beforeAll(async () => {
  limited = await openLimitedApp()
  receiver = await openWebhookReceiver()
})
afterAll(async () => {
  await limited.close()
  await receiver.close()
})

test('reports each crossed threshold once, by a signed webhook and in the audit log', async () => {
  const { app, upstream, make, limit } = limited
  await limited.reset()
  const path = `/v1/orgs/${app.orgId}/webhooks`
  const events = ['budget.alert', 'quota.alert', 'credential.invalid']
  const { secret } = await make(path, { url: receiver.url, events })
  await make(path, { url: `${receiver.url}/never`, events: ['circuit.open'] })
  const budget = await limit('budgets', { limit_usd: 1, window: 'total', alert_pcts: [5, 10, 80] })
  const quota = { metric: 'requests', window: 'month', limit: 1, grace_pct: 500 }
  const each = await limit('quotas', { ...quota, scope: 'default_end_user' })

  const ask = async (user: string): Promise<void> => {
    const response = await app.call('/v1/chat', PRICED_CHAT, { headers: { 'x-rideau-end-user': user } })
    expect(response.status).toBe(200)
    await response.text()
  }
  await ask('ann')
  const [first] = await receiver.until(1)
  expect(first?.event).toMatchObject({
    type: 'budget.alert',
    data: { budget_id: budget.id, alert_pct: 5, limit_usd: 1, spent_usd: 0.05, resets_at: null },
  })
  // The alert at ten percent, then one for each of two end users in the grace of the default quota, and no more.
  for (const user of ['ben', 'ann', 'ben', 'ann', 'ben']) await ask(user)
  upstream.script(json(401, { error: { message: 'no' } }), json(401, { error: { message: 'no' } }))
  for (let n = 0; n < 2; n++) await (await app.call('/v1/chat', PRICED_CHAT)).text()
  await receiver.until(5)
  const unpaid = json(429, { error: { code: 'insufficient_quota', message: 'no' } })
  upstream.script(unpaid, unpaid)
  for (let n = 0; n < 2; n++) await (await app.call('/v1/chat', PRICED_CHAT)).text()
  await receiver.until(6)
  upstream.script(completion('hello'))
  await app.stop()

  const told = receiver.received.map(({ event: { type, data } }) => [
    type,
    data.alert_pct ?? data.scope_ref ?? data.provider,
  ])
  expect(told.toSorted()).toEqual([
    ['budget.alert', 10],
    ['budget.alert', 5],
    ['credential.invalid', 'custom'],
    ['credential.invalid', 'custom'],
    ['quota.alert', 'ann'],
    ['quota.alert', 'ben'],
  ])
  const credentials = receiver.received.filter(({ event }) => event.type === 'credential.invalid')
  expect(credentials.map(({ event }) => event.data.validation_error).toSorted()).toEqual([
    'The provider refused this credential.',
    "The quota or credit of the provider's account is used up.",
  ])
  const quotas = receiver.received.filter(({ event }) => event.type === 'quota.alert')
  for (const { event } of quotas) expect(event.data).toMatchObject({ quota_id: each.id, limit: 1 })
  for (const one of receiver.received) expect(await isSigned(one, secret)).toBe(true)
  // Closing raised all noted crossings, so a crossing that was noted twice would be here.
  const { rows } = await app.database.pool.query(
    `select operation, after, (select count(*) from webhook_deliveries) as deliveries from audit_log
      where actor_kind = 'system' order by at, id`,
  )
  expect(rows.map(row => row.operation).sort()).toEqual(told.map(([type]) => type).sort())
  expect(rows[0].deliveries).toBe(6)
  expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length))
})
