import { sql } from 'kysely'
import type { Clock } from '../core/chance.ts'
import type { WebhookDeliveryRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

/** What happened, as webhooks tell it. */
export interface WebhookEvent {
  readonly orgId: string
  readonly type: string
  /** Unix milliseconds. */
  readonly at: number
  /** JSON without secrets. */
  readonly data: object
}

/** Puts an event on its way to every webhook of its organization that asks for it: for the caller's transaction. */
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

/** A delivery that this process is to send now. */
export interface DueDelivery extends Pick<WebhookDeliveryRow, 'id' | 'event' | 'payload' | 'attempts'> {
  readonly webhook_id: string
  readonly url: string
  readonly secret_cipher: Buffer
}

/**
 * Takes deliveries that are due, oldest first, each by one process: who takes one counts the try and keeps it for
 * `leaseMs`, so that it is tried again where the process dies. What is on its way to a deleted organization ends.
 */
export async function takeDueDeliveries(
  db: Db,
  clock: Clock,
  { most, leaseMs }: { readonly most: number; readonly leaseMs: number },
): Promise<DueDelivery[]> {
  const now = clock.now()
  const { rows } = await sql<DueDelivery & { is_alive: boolean }>`
    with due as (
      select id from webhook_deliveries where next_attempt_at <= ${new Date(now)}
        order by next_attempt_at limit ${most} for update skip locked
    )
    update webhook_deliveries d set attempts = d.attempts + 1,
      next_attempt_at = case when o.deleted_at is null then ${new Date(now + leaseMs)}::timestamptz end
    from due, webhooks w, organizations o
    where d.id = due.id and w.id = d.webhook_id and o.id = d.org_id
    returning d.id, d.event, d.payload, d.attempts, d.webhook_id, w.url, w.secret_cipher,
      o.deleted_at is null as is_alive`.execute(db)
  return rows.filter(row => row.is_alive)
}

/** How a try ended: delivered, to be tried again at a time, or given up. */
export type DeliveryOutcome =
  | { readonly deliveredAt: Date }
  | { readonly failure: string; readonly nextAttemptAt: Date | null }

/** Only of the latest try: one whose lease ran out says nothing any more. */
export async function storeDeliveryOutcome(
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

/** Forgets what was delivered or given up and is older than this. */
export async function removeEndedDeliveries(db: Db, before: Date): Promise<void> {
  await db
    .deleteFrom('webhook_deliveries')
    .where('next_attempt_at', 'is', null)
    .where('created_at', '<', before)
    .execute()
}
