import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EgressPolicy } from '../http/egress/egress.ts'
import { guardedRequest } from '../http/egress/guarded-request.ts'
import { openConfiguredEgress } from '../http/egress/open-egress.ts'
import {
  claimDueDeliveries,
  DELIVERIES,
  insertWebhookDeliveries,
  updateDeliveryOutcome,
} from '../storage/events/webhook-deliveries.ts'
import { openDatabase, openPool } from '../storage/pool.ts'
import { DueOwners } from '../storage/queue-turns.ts'
import { isSigned, openWebhookReceiver, type WebhookReceiver } from '../testing/fakes/webhook-receiver.ts'
import { type ControlPlane, openControlPlane, type Tenant } from '../testing/harness/control-plane.ts'
import { roomFor } from '../testing/harness/queue-room.ts'
import { openWebhookJob, RETRY_DELAYS_MS, sendDelivery, type WebhookJobOptions } from './webhook-job.ts'

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

function options(
  db = plane.database.db,
  policy: EgressPolicy = openConfiguredEgress({ allowPrivate: true }),
): WebhookJobOptions {
  const { clock, secretBox } = plane
  const owners = new DueOwners(DELIVERIES)
  return {
    clock,
    secretBox,
    claim: room => claimDueDeliveries(db, clock, room, LEASE_MS, owners),
    post: (url, headers, body) =>
      guardedRequest(url, { method: 'POST', headers, body, policy, timeoutMs: 5_000, maxBytes: 1_000 }),
    update: (delivery, outcome) => updateDeliveryOutcome(db, delivery, outcome),
    log: { warn: (details, message) => void warnings.push(JSON.stringify([details, message])), error() {} },
  }
}

/** Sends what is due until nothing is, and returns how many attempts it made. */
async function sendDueDeliveries(job: WebhookJobOptions): Promise<number> {
  let attempts = 0
  for (;;) {
    const due = await job.claim(roomFor(16))
    await Promise.all(due.map(delivery => sendDelivery(job, delivery)))
    attempts += due.length
    if (due.length === 0) return attempts
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

test("sends type, timestamp and data, with a signature that only the webhook's own secret verifies", async () => {
  const { secret } = await subscribe()
  const { secret: other } = await subscribe(['quota.alert'])
  const at = plane.clock.now()
  await raise({ text: 'ä"\u2028' })
  expect(await sendDueDeliveries(options())).toBe(1)
  const [got] = await receiver.until(1)
  if (got === undefined) throw new Error('nothing was received')
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

test('repeats a failed attempt after its delay, with the same id and a new timestamp, until a 2xx', async () => {
  const { secret } = await subscribe()
  receiver.answer(500, 302, 204)
  await raise()
  await sendDueDeliveries(options())
  plane.clock.advance(4_999)
  expect(await sendDueDeliveries(options())).toBe(0)
  plane.clock.advance(1)
  expect(await sendDueDeliveries(options())).toBe(1)
  expect(await stored()).toMatchObject([{ attempts: 2, failure: 'status 302', delivered_at: null }])
  plane.clock.advance(60_000)
  expect(await sendDueDeliveries(options())).toBe(1)
  expect(await stored()).toMatchObject([
    { attempts: 3, failure: null, next_attempt_at: null, delivered_at: new Date(plane.clock.now()) },
  ])
  plane.clock.advance(86_400_000)
  expect(await sendDueDeliveries(options())).toBe(0)
  const { received } = receiver
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3)
  for (const each of received) expect(await isSigned(each, secret)).toBe(true)
})

test('gives a delivery up after the last delay, and logs that without the secret', async () => {
  const { id, secret } = await subscribe()
  receiver.answer(503)
  await raise()
  await sendDueDeliveries(options())
  for (const delay of RETRY_DELAYS_MS) {
    plane.clock.advance(delay)
    expect(await sendDueDeliveries(options())).toBe(1)
  }
  plane.clock.advance(7 * 86_400_000)
  expect(await sendDueDeliveries(options())).toBe(0)
  expect(await stored()).toMatchObject([{ attempts: 6, next_attempt_at: null, delivered_at: null }])
  const logged = warnings.filter(line => line.includes(id))
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('given up')
  expect(warnings.join()).not.toContain(secret.slice('whsec_'.length))
})

test('gives a delivery up at once after a 410', async () => {
  await subscribe()
  receiver.answer(410)
  await raise()
  await sendDueDeliveries(options())
  expect(await stored()).toMatchObject([{ attempts: 1, next_attempt_at: null, failure: 'status 410' }])
})

test('does not send to a private address unless private addresses are allowed', async () => {
  await subscribe()
  await raise()
  expect(await sendDueDeliveries(options(undefined, openConfiguredEgress({ allowPrivate: false })))).toBe(1)
  expect(receiver.received).toHaveLength(0)
  expect(await stored()).toMatchObject([{ failure: 'refused', delivered_at: null }])
})

test("claims a delivery of each organization before another one's second, however many it has", async () => {
  const busy = tenant
  await subscribe()
  for (let n = 0; n < 40; n++) await raise({ n })
  plane.clock.advance(1_000)
  tenant = await plane.insertTenant('honest')
  const { id } = await subscribe()
  await raise()
  const claimed = await options().claim(roomFor(16))
  expect(claimed).toHaveLength(16)
  expect(claimed.filter(({ webhook_id }) => webhook_id === id)).toHaveLength(1)
  tenant = busy
  expect((await stored()).filter(({ attempts }) => attempts === 1)).toHaveLength(15)
})

test('receivers that never answer delay no delivery of another organization', async () => {
  const url = 'http://127.0.0.1:9/silent'
  const body = { url, events: ['budget.alert'] }
  const path = `/v1/orgs/${tenant.organization.id}/webhooks`
  await plane.call('POST', path, { key: tenant.keys.admin, body })
  for (let n = 0; n < 40; n++) await raise({ n })
  const { post, ...rest } = options()
  const waiting: (() => void)[] = []
  // The silent endpoint's time limit passes when the test lets it.
  const posting: WebhookJobOptions['post'] = async (to, headers, text, orgId) => {
    if (to !== url) return await post(to, headers, text, orgId)
    await new Promise<void>(resolve => waiting.push(resolve))
    return { ok: false, reason: 'timeout' }
  }
  const job = openWebhookJob({ ...rest, post: posting })
  await expect.poll(() => waiting.length).toBe(16)
  tenant = await plane.insertTenant('honest')
  await subscribe()
  for (let n = 0; n < 8; n++) await raise({ n })
  plane.clock.advance(1_000)
  await receiver.until(8)
  expect(waiting).toHaveLength(16)
  const closing = job.close()
  for (const end of waiting) end()
  await closing
  const ended = await stored()
  expect(ended.map(({ delivered_at }) => delivered_at === null)).toEqual(Array(8).fill(false))
})

test('three processes at once send each delivery once', async () => {
  await subscribe()
  for (let n = 0; n < 60; n++) await raise({ n })
  const pools = [1, 2, 3].map(() => openPool(plane.database.connection, () => {}, { max: 2 }))
  try {
    const tries = await Promise.all(pools.map(pool => sendDueDeliveries(options(openDatabase(pool)))))
    expect(tries.reduce((sum, each) => sum + each, 0)).toBe(60)
  } finally {
    for (const pool of pools) await pool.end()
  }
  expect(new Set(receiver.received.map(({ event }) => event.data.n)).size).toBe(60)
  expect(receiver.received).toHaveLength(60)
})

test('sends a claimed delivery again when its lease ends, and ignores the late result of the first attempt', async () => {
  await subscribe()
  await raise()
  const dead = options()
  const [claimed] = await dead.claim(roomFor(16))
  if (claimed === undefined) throw new Error('nothing was due')
  plane.clock.advance(LEASE_MS - 1)
  expect(await sendDueDeliveries(options())).toBe(0)
  plane.clock.advance(1)
  expect(await sendDueDeliveries(options())).toBe(1)
  await dead.update(claimed, { failure: 'late', nextAttemptAt: new Date(plane.clock.now()) })
  expect(await stored()).toMatchObject([{ attempts: 2, failure: null, next_attempt_at: null }])
})

test('removes queued deliveries with their webhook, and gives them up with their organization', async () => {
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
  expect(await sendDueDeliveries(options())).toBe(0)
  expect(await stored()).toMatchObject([{ next_attempt_at: null, delivered_at: null }])
  expect(receiver.received).toHaveLength(0)
})
