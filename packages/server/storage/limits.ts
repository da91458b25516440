import { hasLiveOwner } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { LimitRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertLimit(db: Db, row: LimitRow): Promise<LimitRow> {
  return await db.insertInto('limits').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The limit; undefined if it does not exist, or its project or organization is deleted. */
export async function findLimit(db: Db, id: string): Promise<LimitRow | undefined> {
  return await db
    .selectFrom('limits')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveOwner('limits'))
    .executeTakeFirst()
}

/** Limits that belong to the organization itself, not to an environment of it. */
export async function listOrganizationLimits(db: Db, orgId: string, page: Page): Promise<LimitRow[]> {
  const query = db
    .selectFrom('limits')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('environment_id', 'is', null)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

export async function listEnvironmentLimits(db: Db, environmentId: string, page: Page): Promise<LimitRow[]> {
  const query = db.selectFrom('limits').selectAll().where('environment_id', '=', environmentId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the changed row; undefined if it was removed in the meantime. */
export async function updateLimit(
  db: Db,
  id: string,
  change: Partial<LimitRow>,
): Promise<LimitRow | undefined> {
  return await db.updateTable('limits').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function removeLimit(db: Db, id: string): Promise<void> {
  await db.deleteFrom('limits').where('id', '=', id).execute()
}
