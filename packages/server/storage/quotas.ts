import { isAfter, type Page } from './page.ts'
import type { QuotaRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertQuota(db: Db, row: QuotaRow): Promise<QuotaRow> {
  return await db.insertInto('quotas').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findQuota(db: Db, id: string): Promise<QuotaRow | undefined> {
  return await db
    .selectFrom('quotas')
    .innerJoin('projects', 'projects.id', 'quotas.project_id')
    .innerJoin('organizations', 'organizations.id', 'quotas.org_id')
    .selectAll('quotas')
    .where('quotas.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listQuotas(db: Db, environmentId: string, page: Page): Promise<QuotaRow[]> {
  return await db
    .selectFrom('quotas')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The row as it then stands; undefined where it has gone meanwhile. */
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
