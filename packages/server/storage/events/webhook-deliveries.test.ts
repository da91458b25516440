import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { QueueRoom } from '../../core/queue-room.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { roomFor } from '../../testing/harness/queue-room.ts'
import { countDeletedRows, readDeletedRows } from '../../testing/harness/statement-rows.ts'
import { addOrganization, CREATED, newId } from '../../testing/harness/storage-rows.ts'
import type { Db } from '../pool.ts'
import { DueOwners } from '../queue-turns.ts'
import type { OrganizationRow } from '../schema.ts'
import { removeOrganization } from '../tenancy/organizations.ts'
import {
  claimDueDeliveries,
  DELIVERIES,
  type DueDelivery,
  insertTestDelivery,
  insertWebhookDeliveries,
  removeEndedDeliveries,
  updateDeliveryOutcome,
} from './webhook-deliveries.ts'
import { insertWebhook, removeWebhook } from './webhooks.ts'

const LEASE_MS = 120_000

describe.each(listTestServers())('webhook deliveries on $label', server => {
  let database: FreshDatabase
  let db: Db
  let organization: OrganizationRow
  let now: number
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    await db.deleteFrom('webhook_deliveries').execute()
    organization = await addOrganization(db)
    now = CREATED.getTime()
  })

  const addWebhook = async (...events: string[]): Promise<string> => {
    const owner = { id: newId(), org_id: organization.id, created_at: CREATED, updated_at: CREATED }
    await insertWebhook(db, { ...owner, url: 'https://hooks.example', events, secret_cipher: Buffer.of(7) })
    return owner.id
  }
  const insert = (type = 'budget.alert', data: object = {}): Promise<void> =>
    insertWebhookDeliveries(db, { orgId: organization.id, type, at: now, data }, newId)
  const claimIn = (room: QueueRoom): Promise<DueDelivery[]> =>
    claimDueDeliveries(db, { now: () => now }, room, LEASE_MS, new DueOwners(DELIVERIES))
  const claim = (limit = 100): Promise<DueDelivery[]> => claimIn(roomFor(limit))
  const claimOne = async (): Promise<DueDelivery> => {
    const [delivery, ...others] = await claim()
    if (delivery === undefined || others.length > 0) throw new Error(`${others.length} deliveries too many`)
    return delivery
  }
  const count = async (): Promise<number> =>
    (await db.selectFrom('webhook_deliveries').select('id').execute()).length

  test('a test is queued whatever the webhook subscribes to, and one at a time of two concurrent ones', async () => {
    const id = await addWebhook()
    const add = () => insertTestDelivery(db, { id, org_id: organization.id }, { id: newId(), at: now })
    const both = await Promise.all([add(), add()])
    expect(both.filter(row => row !== undefined)).toHaveLength(1)
    const { payload } = await claimOne()
    expect(JSON.parse(payload)).toMatchObject({ type: 'webhook.test', data: { webhook_id: id } })
    await removeWebhook(db, id)
    expect(await add()).toBeUndefined()
  })

  test('are queued until a thousand of a webhook are pending, and again once its receiver has taken some', async () => {
    const full = await addWebhook('quota.alert')
    await insert('quota.alert')
    await database.pool.query(
      `insert into webhook_deliveries select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
        from webhook_deliveries d, generate_series(1, 998)`,
    )
    await insert('quota.alert')
    expect(await count()).toBe(1_000)
    const other = await addWebhook('quota.alert')
    await insert('quota.alert')
    const pending = async (id: string): Promise<number> =>
      (await db.selectFrom('webhook_deliveries').select('id').where('webhook_id', '=', id).execute()).length
    expect([await pending(full), await pending(other)]).toEqual([1_000, 1])
    const [due] = await claim(1)
    await updateDeliveryOutcome(db, due as DueDelivery, { deliveredAt: new Date(now) })
    await insert('quota.alert')
    expect([await pending(full), await pending(other)]).toEqual([1_001, 2])
  })

  test('are queued for the webhooks of the organization that subscribe to the event', async () => {
    const budget = await addWebhook('budget.alert')
    const both = await addWebhook('budget.alert', 'quota.alert')
    await addWebhook('quota.alert')
    await addWebhook()
    await insert('budget.alert', { spent: 1 })
    organization = await addOrganization(db)
    await addWebhook('budget.alert')
    const due = await claim()
    expect(due.map(({ webhook_id }) => webhook_id).sort()).toEqual([budget, both].sort())
    expect(due[0]).toMatchObject({
      event: 'budget.alert',
      attempts: 1,
      url: 'https://hooks.example',
      secret_cipher: Buffer.of(7),
      payload: JSON.stringify({
        type: 'budget.alert',
        timestamp: CREATED.toISOString(),
        data: { spent: 1 },
      }),
    })
  })

  test('are queued for the other webhooks if one is being removed', async () => {
    const removed = await addWebhook('budget.alert')
    const kept = await addWebhook('budget.alert')
    let inserting: Promise<void> | undefined
    await db.transaction().execute(async tx => {
      await removeWebhook(tx, removed)
      inserting = insert()
      await untilLockWait(database.pool)
    })
    await inserting
    expect((await claim()).map(({ webhook_id }) => webhook_id)).toEqual([kept])
  })

  test('are queued only if the transaction of their event commits', async () => {
    await addWebhook('budget.alert')
    const failed = db.transaction().execute(async tx => {
      const event = { orgId: organization.id, type: 'budget.alert', at: now, data: {} }
      await insertWebhookDeliveries(tx, event, newId)
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await count()).toBe(0)
  })

  test('are claimed in turns of organizations, where running ones count and slow organizations come last', async () => {
    const owners: string[] = []
    for (let index = 0; index < 3; index++) {
      organization = await addOrganization(db)
      owners.push(organization.id)
      await addWebhook('budget.alert')
      for (let n = 0; n < 4; n++) await insert()
      now++
    }
    const [busy = '', slow = '', other = ''] = owners
    const room = roomFor(5, { running: new Map([[busy, 1]]), slow: [slow], slowLimit: 1, ofOrganization: 3 })
    const first = await claimIn(room)
    expect(first.map(({ org_id }) => org_id).sort()).toEqual([busy, busy, other, other, other].sort())
    const running = new Map([
      [busy, 3],
      [other, 3],
    ])
    const rest = await claimIn({ ...room, running })
    expect(rest.map(({ org_id }) => org_id)).toEqual([slow])
  })

  test('of slow organizations are claimed in turn with others up to their share', async () => {
    const owners: string[] = []
    for (let index = 0; index < 2; index++) {
      organization = await addOrganization(db)
      owners.push(organization.id)
      await addWebhook('budget.alert')
      for (let n = 0; n < 4; n++) await insert()
      now++
    }
    const [busy = '', slow = ''] = owners
    const claimed = await claimIn(roomFor(4, { slow: [slow], slowShare: 1 }))
    expect(claimed.map(({ org_id }) => org_id).sort()).toEqual([busy, busy, busy, slow].sort())
  })

  test('are claimed oldest first, up to the limit, and each by one of several claimers', async () => {
    await addWebhook('budget.alert')
    for (const n of [1, 2, 3, 4, 5, 6]) {
      now = CREATED.getTime() + n
      await insert('budget.alert', { n })
    }
    const numbersOf = (due: readonly DueDelivery[]): number[] =>
      due.map(({ payload }) => JSON.parse(payload).data.n as number).sort()
    expect(numbersOf(await claim(2))).toEqual([1, 2])
    const room = roomFor(2, { ofOrganization: 6 })
    const claimed = await Promise.all([claimIn(room), claimIn(room), claimIn(room)])
    expect(numbersOf(claimed.flat())).toEqual([3, 4, 5, 6])
  })

  test('are not claimed before they are due', async () => {
    await addWebhook('budget.alert')
    await insert()
    now -= 1
    expect(await claim()).toEqual([])
    now += 1
    expect(await claim()).toHaveLength(1)
  })

  test('are claimed again, with the next attempt, exactly when the lease ends', async () => {
    await addWebhook('budget.alert')
    await insert()
    const { id } = await claimOne()
    now += LEASE_MS - 1
    expect(await claim()).toEqual([])
    now += 1
    expect(await claimOne()).toMatchObject({ id, attempts: 2 })
  })

  test('are claimed again at the time that a failed attempt set, and never once delivered or given up', async () => {
    await addWebhook('budget.alert')
    await insert()
    const first = await claimOne()
    const nextAttemptAt = new Date(now + 5_000)
    await updateDeliveryOutcome(db, first, { failure: 'status 500', nextAttemptAt })
    now += 5_000
    const second = await claimOne()
    await updateDeliveryOutcome(db, second, { deliveredAt: new Date(now) })
    now += 10 * LEASE_MS
    expect(await claim()).toEqual([])
    await insert()
    await updateDeliveryOutcome(db, await claimOne(), { failure: 'status 410', nextAttemptAt: null })
    now += 10 * LEASE_MS
    expect(await claim()).toEqual([])
  })

  test('ignore the result of an attempt whose lease ended', async () => {
    await addWebhook('budget.alert')
    await insert()
    const first = await claimOne()
    now += LEASE_MS
    const second = await claimOne()
    await updateDeliveryOutcome(db, first, { deliveredAt: new Date(now) })
    const query = db.selectFrom('webhook_deliveries').selectAll().where('id', '=', first.id)
    expect(await query.executeTakeFirst()).toMatchObject({ delivered_at: null, attempts: 2 })
    await updateDeliveryOutcome(db, second, { deliveredAt: new Date(now) })
    expect(await query.executeTakeFirst()).toMatchObject({ delivered_at: new Date(now), failure: null })
  })

  test('are given up when their organization is deleted, and removed with their webhook', async () => {
    await addWebhook('budget.alert')
    await insert()
    await removeOrganization(db, organization.id, new Date(now))
    expect(await claim()).toEqual([])
    const [row] = await db.selectFrom('webhook_deliveries').selectAll().execute()
    expect(row).toMatchObject({ next_attempt_at: null, delivered_at: null })
    organization = await addOrganization(db)
    const webhook = await addWebhook('budget.alert')
    await insert()
    await removeWebhook(db, webhook)
    expect(await claim()).toEqual([])
    expect(await count()).toBe(1)
  })

  test('are removed once they ended and are older than a time', async () => {
    await addWebhook('budget.alert')
    await insert()
    await updateDeliveryOutcome(db, await claimOne(), { deliveredAt: new Date(now) })
    await insert()
    await removeEndedDeliveries(db, new Date(now))
    expect(await count()).toBe(2)
    await removeEndedDeliveries(db, new Date(now + 1))
    expect(await count()).toBe(1)
    expect(await claim()).toHaveLength(1)
  })

  test('are removed in batches where very many ended', async () => {
    await addWebhook('budget.alert')
    await insert()
    await updateDeliveryOutcome(db, await claimOne(), { deliveredAt: new Date(now) })
    await database.pool.query(
      `insert into webhook_deliveries select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
        from webhook_deliveries d, generate_series(1, 2499)`,
    )
    await countDeletedRows(database.pool, ['webhook_deliveries'])
    await removeEndedDeliveries(db, new Date(now + 1))
    expect(await readDeletedRows(database.pool)).toEqual({ most: 1_000, all: 2_500 })
  })
})
