import { sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { QueueRoom } from '../../core/queue-room.ts'
import type { WebhookDeliveryRow } from '../event-tables.ts'
import { type Page, selectPage } from '../page.ts'
import type { Db } from '../pool.ts'
import { type DueOwners, type Queue, selectInTurns } from '../queue-turns.ts'
import { removeInBatches } from '../remove-in-batches.ts'

export interface WebhookEvent {
  readonly orgId: string
  readonly type: string
  /** Unix milliseconds. */
  readonly at: number
  /** JSON without secrets. */
  readonly data: object
}

/** The most deliveries of one webhook that may be pending. */
const MAX_PENDING = 1_000

/**
 * Queues the event for every webhook of its organization that subscribes to its type. For the caller's transaction, so
 * that the event is sent exactly if what caused it is committed. A webhook with MAX_PENDING deliveries gets no further ones until its
 * receiver has taken some: each failing request may be an event, and each end user.
 */
export async function insertWebhookDeliveries(
  db: Db,
  { orgId, type, at, data }: WebhookEvent,
  newId: () => string,
): Promise<void> {
  const webhooks = await db
    .selectFrom('webhooks')
    .select('id')
    .where('org_id', '=', orgId)
    .where(sql<boolean>`${type} = any(events)`)
    .where(
      sql<boolean>`not exists (select from webhook_deliveries d
        where d.webhook_id = webhooks.id and d.next_attempt_at is not null offset ${MAX_PENDING - 1})`,
    )
    // One that is being removed would make the insertion fail, and with it what caused the event.
    .orderBy('id')
    .forKeyShare()
    .execute()
  if (webhooks.length === 0) return
  const payload = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data })
  const rows = webhooks.map(({ id }) => ({
    id: newId(),
    org_id: orgId,
    webhook_id: id,
    event: type,
    payload,
    attempts: 0,
    next_attempt_at: new Date(at),
    delivered_at: null,
    failure: null,
    created_at: new Date(at),
  }))
  await db.insertInto('webhook_deliveries').values(rows).execute()
}

/** The event of a test, to which no webhook subscribes. */
const TEST_EVENT = 'webhook.test'

/**
 * Queues a test for the webhook. Returns the delivery; undefined while an earlier test is pending, so that no caller can fill the queue.
 */
export async function insertTestDelivery(
  db: Db,
  webhook: { readonly id: string; readonly org_id: string },
  { id, at }: { readonly id: string; readonly at: number },
): Promise<WebhookDeliveryRow | undefined> {
  return await db.transaction().execute(async tx => {
    // Of two concurrent tests the second finds the first; of a webhook that was removed meanwhile there is no row.
    const locked = await tx
      .selectFrom('webhooks')
      .select('id')
      .where('id', '=', webhook.id)
      .forUpdate()
      .executeTakeFirst()
    const pending = await tx
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('webhook_id', '=', webhook.id)
      .where('event', '=', TEST_EVENT)
      .where('next_attempt_at', 'is not', null)
      .executeTakeFirst()
    if (locked === undefined || pending !== undefined) return undefined
    const data = { webhook_id: webhook.id }
    const row = {
      id,
      org_id: webhook.org_id,
      webhook_id: webhook.id,
      event: TEST_EVENT,
      payload: JSON.stringify({ type: TEST_EVENT, timestamp: new Date(at).toISOString(), data }),
      attempts: 0,
      next_attempt_at: new Date(at),
      delivered_at: null,
      failure: null,
      created_at: new Date(at),
    }
    await tx.insertInto('webhook_deliveries').values(row).execute()
    return row
  })
}

/** Deliveries of a webhook, newest first. They are few: ended ones are removed after a time. */
export async function listWebhookDeliveries(
  db: Db,
  webhookId: string,
  page: Page,
): Promise<WebhookDeliveryRow[]> {
  const query = db.selectFrom('webhook_deliveries').selectAll().where('webhook_id', '=', webhookId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** A delivery that this process claimed and must attempt now. */
export interface DueDelivery
  extends Pick<WebhookDeliveryRow, 'id' | 'org_id' | 'event' | 'payload' | 'attempts'> {
  readonly webhook_id: string
  readonly url: string
  readonly secret_cipher: Buffer
}

export const DELIVERIES: Queue = { table: 'webhook_deliveries', dueAt: 'next_attempt_at' }

/**
 * Claims deliveries that are due, and counts an attempt for each: the oldest one of each organization, then the second one of
 * each, where those that are sent already come first. Slow organizations come after the others. No other process gets a
 * claimed delivery for `leaseMs`; after that it is due again, in case this process died. Deliveries of deleted
 * organizations are given up instead of returned. `owners`: of DELIVERIES.
 */
export async function claimDueDeliveries(
  db: Db,
  clock: Clock,
  room: QueueRoom,
  leaseMs: number,
  owners: DueOwners,
): Promise<DueDelivery[]> {
  const now = clock.now()
  const organizations = await owners.list(db, now)
  if (organizations.length === 0) return []
  const { rows } = await sql<DueDelivery & { is_alive: boolean }>`
    with due as (${selectInTurns(DELIVERIES, organizations, new Date(now), room)})
    update webhook_deliveries d set attempts = d.attempts + 1,
      next_attempt_at = case when o.deleted_at is null then ${new Date(now + leaseMs)}::timestamptz end
    from due, webhooks w, organizations o
    where d.id = due.id and w.id = d.webhook_id and o.id = d.org_id
    returning d.id, d.org_id, d.event, d.payload, d.attempts, d.webhook_id, w.url, w.secret_cipher,
      o.deleted_at is null as is_alive`.execute(db)
  return rows.filter(row => row.is_alive)
}

/** The result of an attempt: delivered, to be repeated at a time, or given up (`nextAttemptAt` is null). */
export type DeliveryOutcome =
  | { readonly deliveredAt: Date }
  | { readonly failure: string; readonly nextAttemptAt: Date | null }

/** Stores the result of the latest attempt. Does nothing if the lease ran out and another attempt began since. */
export async function updateDeliveryOutcome(
  db: Db,
  { id, attempts }: Pick<DueDelivery, 'id' | 'attempts'>,
  outcome: DeliveryOutcome,
): Promise<void> {
  const change =
    'deliveredAt' in outcome
      ? { delivered_at: outcome.deliveredAt, next_attempt_at: null, failure: null }
      : { next_attempt_at: outcome.nextAttemptAt, failure: outcome.failure }
  await db
    .updateTable('webhook_deliveries')
    .set(change)
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .execute()
}

/** Removes deliveries that were delivered or given up and are older than `before`. The signal stops it before the next batch. */
export async function removeEndedDeliveries(db: Db, before: Date, signal?: AbortSignal): Promise<void> {
  const ended = sql<boolean>`next_attempt_at is null and created_at < ${before}`
  await removeInBatches(db, 'webhook_deliveries', ended, signal)
}
