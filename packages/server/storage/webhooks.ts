import { isAfter, type Page } from './page.ts'
import type { WebhookRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertWebhook(db: Db, row: WebhookRow): Promise<void> {
  await db.insertInto('webhooks').values(row).execute()
}

/** undefined where there is none, or its organization was deleted. */
export async function findWebhook(db: Db, id: string): Promise<WebhookRow | undefined> {
  return await db
    .selectFrom('webhooks')
    .innerJoin('organizations', 'organizations.id', 'webhooks.org_id')
    .selectAll('webhooks')
    .where('webhooks.id', '=', id)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listWebhooks(db: Db, orgId: string, page: Page): Promise<WebhookRow[]> {
  return await db
    .selectFrom('webhooks')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The row as it then stands; undefined where it has gone meanwhile. */
export async function updateWebhook(
  db: Db,
  id: string,
  change: Partial<WebhookRow>,
): Promise<WebhookRow | undefined> {
  return await db.updateTable('webhooks').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function removeWebhook(db: Db, id: string): Promise<void> {
  await db.deleteFrom('webhooks').where('id', '=', id).execute()
}
