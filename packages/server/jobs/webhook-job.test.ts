import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EgressPolicy } from '../http/egress.ts'
import { guardedRequest } from '../http/guarded-request.ts'
import { openDatabase, openPool } from '../storage/pool.ts'
import {
  insertWebhookDeliveries,
  storeDeliveryOutcome,
  takeDueDeliveries,
} from '../storage/webhook-deliveries.ts'
import { isSigned, openWebhookReceiver, type WebhookReceiver } from '../testing/fakes/webhook-receiver.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { RETRY_DELAYS_MS, sendDueWebhooks, type WebhookSender } from './webhook-job.ts'

const LEASE_MS = 120_000

let plane: ControlPlane
let tenant: Tenant
let receiver: WebhookReceiver
beforeAll(async () => {
  plane = await openControlPlane()
})
afterAll(() => plane.close())
beforeEach(async () => {
  await plane.database.db.deleteFrom('webhook_deliveries').execute()
  tenant = await plane.insertTenant('acme')
  receiver = await openWebhookReceiver()
  return () => receiver.close()
})

const warnings: string[] = []

function sender(db = plane.database.db, policy: EgressPolicy = { allowPrivate: true }): WebhookSender {
  const { clock, secretBox } = plane
  return {
    clock,
    secretBox,
    take: most => takeDueDeliveries(db, clock, { most, leaseMs: LEASE_MS }),
    post: (url, headers, body) =>
      guardedRequest(url, { method: 'POST', headers, body, policy, timeoutMs: 5_000, maxBytes: 1_000 }),
    store: (delivery, outcome) => storeDeliveryOutcome(db, delivery, outcome),
    log: { warn: (details, message) => void warnings.push(JSON.stringify([details, message])), error() {} },
  }
}

async function subscribe(events = ['budget.alert'], of = tenant): Promise<{ id: string; secret: string }> {
  const { json } = await plane.call<{ id: string; secret: string }>(
    'POST',
    `/v1/orgs/${of.organization.id}/webhooks`,
    { key: of.keys.admin, body: { url: receiver.url, events } },
  )
  return json
}

async function raise(data: object = { n: 1 }): Promise<void> {
  const event = { orgId: tenant.organization.id, type: 'budget.alert', at: plane.clock.now(), data }
  await insertWebhookDeliveries(plane.database.db, event, plane.newId)
}

function stored() {
  return plane.database.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('org_id', '=', tenant.organization.id)
    .execute()
}

test('a delivery has type, timestamp and data, and its signature verifies by its own secret only', async () => {
  const { secret } = await subscribe()
  const { secret: other } = await subscribe(['quota.alert'])
  const at = plane.clock.now()
  await raise({ text: 'ä"\u2028' })
  expect(await sendDueWebhooks(sender())).toBe(1)
  const [got] = await receiver.until(1)
  if (got === undefined) throw new Error('nothing came')
  expect(got.event).toEqual({
    type: 'budget.alert',
    timestamp: new Date(at).toISOString(),
    data: { text: 'ä"\u2028' },
  })
  expect(got.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'webhook-timestamp': String(Math.floor(at / 1000)),
  })
  expect(await isSigned(got, secret)).toBe(true)
  expect(await isSigned(got, other)).toBe(false)
  expect(await isSigned({ ...got, body: Buffer.from('{}') }, secret)).toBe(false)
  expect(receiver.received).toHaveLength(1)
})

test('a failed try is made again after its delay, under the same id and a new timestamp, and ends with a 2xx', async () => {
  const { secret } = await subscribe()
  receiver.answer(500, 302, 204)
  await raise()
  await sendDueWebhooks(sender())
  plane.clock.advance(4_999)
  expect(await sendDueWebhooks(sender())).toBe(0)
  plane.clock.advance(1)
  expect(await sendDueWebhooks(sender())).toBe(1)
  expect(await stored()).toMatchObject([{ attempts: 2, failure: 'status 302', delivered_at: null }])
  plane.clock.advance(60_000)
  expect(await sendDueWebhooks(sender())).toBe(1)
  expect(await stored()).toMatchObject([
    { attempts: 3, failure: null, next_attempt_at: null, delivered_at: new Date(plane.clock.now()) },
  ])
  plane.clock.advance(86_400_000)
  expect(await sendDueWebhooks(sender())).toBe(0)
  const { received } = receiver
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3)
  for (const each of received) expect(await isSigned(each, secret)).toBe(true)
})

test('after the last delay it is given up, which the log tells without the secret', async () => {
  const { id, secret } = await subscribe()
  receiver.answer(503)
  await raise()
  await sendDueWebhooks(sender())
  for (const delay of RETRY_DELAYS_MS) {
    plane.clock.advance(delay)
    expect(await sendDueWebhooks(sender())).toBe(1)
  }
  plane.clock.advance(7 * 86_400_000)
  expect(await sendDueWebhooks(sender())).toBe(0)
  expect(await stored()).toMatchObject([{ attempts: 6, next_attempt_at: null, delivered_at: null }])
  const said = warnings.filter(line => line.includes(id))
  expect(said).toHaveLength(1)
  expect(said[0]).toContain('given up')
  expect(warnings.join()).not.toContain(secret.slice('whsec_'.length))
})

test('410 ends it at once', async () => {
  await subscribe()
  receiver.answer(410)
  await raise()
  await sendDueWebhooks(sender())
  expect(await stored()).toMatchObject([{ attempts: 1, next_attempt_at: null, failure: 'status 410' }])
})

test('a private address gets nothing where private addresses are closed', async () => {
  await subscribe()
  await raise()
  expect(await sendDueWebhooks(sender(undefined, { allowPrivate: false }))).toBe(1)
  expect(receiver.received).toHaveLength(0)
  expect(await stored()).toMatchObject([{ failure: 'refused', delivered_at: null }])
})

test('many processes at once send each delivery once', async () => {
  await subscribe()
  for (let n = 0; n < 60; n++) await raise({ n })
  const pools = [1, 2, 3].map(() => openPool(plane.database.connection, () => {}, { max: 2 }))
  try {
    const tries = await Promise.all(pools.map(pool => sendDueWebhooks(sender(openDatabase(pool)))))
    expect(tries.reduce((sum, each) => sum + each, 0)).toBe(60)
  } finally {
    for (const pool of pools) await pool.end()
  }
  expect(new Set(receiver.received.map(({ event }) => event.data.n)).size).toBe(60)
  expect(receiver.received).toHaveLength(60)
})

test('what a process took and did not end is sent again when its lease is over, and its late word counts no more', async () => {
  await subscribe()
  await raise()
  const dead = sender()
  const [taken] = await dead.take(16)
  if (taken === undefined) throw new Error('nothing was due')
  plane.clock.advance(LEASE_MS - 1)
  expect(await sendDueWebhooks(sender())).toBe(0)
  plane.clock.advance(1)
  expect(await sendDueWebhooks(sender())).toBe(1)
  await dead.store(taken, { failure: 'late', nextAttemptAt: new Date(plane.clock.now()) })
  expect(await stored()).toMatchObject([{ attempts: 2, failure: null, next_attempt_at: null }])
})

test('what is on its way ends with its webhook, and with its organization', async () => {
  const other = await plane.insertTenant('other')
  const { id } = await subscribe()
  await raise()
  await plane.call('DELETE', `/v1/webhooks/${id}`, { key: tenant.keys.admin })
  expect(await stored()).toEqual([])
  tenant = other
  await subscribe()
  await raise()
  await plane.database.db
    .updateTable('organizations')
    .set({ deleted_at: new Date(plane.clock.now()) })
    .where('id', '=', other.organization.id)
    .execute()
  expect(await sendDueWebhooks(sender())).toBe(0)
  expect(await stored()).toMatchObject([{ next_attempt_at: null, delivered_at: null }])
  expect(receiver.received).toHaveLength(0)
})
