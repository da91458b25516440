import type { WebhookRow } from './event-tables.ts'
import { hasLiveOrganization } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'

export async function insertWebhook(db: Db, row: WebhookRow): Promise<void> {
  await db.insertInto('webhooks').values(row).execute()
}

/** The webhook; undefined if it does not exist or its organization is deleted. */
export async function findWebhook(db: Db, id: string): Promise<WebhookRow | undefined> {
  return await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveOrganization('webhooks'))
    .executeTakeFirst()
}

export async function listWebhooks(db: Db, orgId: string, page: Page): Promise<WebhookRow[]> {
  const query = db.selectFrom('webhooks').selectAll().where('org_id', '=', orgId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the changed row; undefined if it was removed in the meantime. */
export async function updateWebhook(
  db: Db,
  id: string,
  change: Partial<WebhookRow>,
): Promise<WebhookRow | undefined> {
  return await db.updateTable('webhooks').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

/** Removes the webhook and its deliveries. */
export async function removeWebhook(db: Db, id: string): Promise<void> {
  await db.deleteFrom('webhooks').where('id', '=', id).execute()
}
