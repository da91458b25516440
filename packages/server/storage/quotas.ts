import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { QuotaRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertQuota(db: Db, row: QuotaRow): Promise<QuotaRow> {
  return await db.insertInto('quotas').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The quota; undefined if it does not exist, or its project or organization is deleted. */
export async function findQuota(db: Db, id: string): Promise<QuotaRow | undefined> {
  return await db
    .selectFrom('quotas')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('quotas'))
    .executeTakeFirst()
}

export async function listQuotas(db: Db, environmentId: string, page: Page): Promise<QuotaRow[]> {
  const query = db.selectFrom('quotas').selectAll().where('environment_id', '=', environmentId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the changed row; undefined if it was removed in the meantime. */
export async function updateQuota(
  db: Db,
  id: string,
  change: Partial<QuotaRow>,
): Promise<QuotaRow | undefined> {
  return await db.updateTable('quotas').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function removeQuota(db: Db, id: string): Promise<void> {
  await db.deleteFrom('quotas').where('id', '=', id).execute()
}
