import type { Insertable, Selectable, Updateable } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { EndUserTable } from './policy-tables.ts'
import type { Db } from './pool.ts'

/** An end user with the name of its plan; null: it has no plan of its own. */
export type EndUserWithPlanRow = Selectable<EndUserTable> & { readonly plan: string | null }

export async function insertEndUser(db: Db, row: Insertable<EndUserTable>): Promise<void> {
  await db.insertInto('end_users').values(row).execute()
}

function selectEndUsers(db: Db) {
  return db
    .selectFrom('end_users')
    .leftJoin('plans', 'plans.id', 'end_users.plan_id')
    .selectAll('end_users')
    .select('plans.name as plan')
}

/** The end user; undefined if it does not exist, or its project or organization is deleted. */
export async function findEndUser(db: Db, id: string): Promise<EndUserWithPlanRow | undefined> {
  return await selectEndUsers(db)
    .where('end_users.id', '=', id)
    .where(hasLiveProject('end_users'))
    .executeTakeFirst()
}

/** The id of the end user that callers name `externalId`. */
export async function findEndUserId(
  db: Db,
  environmentId: string,
  externalId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('end_users')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('external_id', '=', externalId)
    .executeTakeFirst()
  return row?.id
}

export async function listEndUsers(db: Db, environmentId: string, page: Page): Promise<EndUserWithPlanRow[]> {
  const query = selectEndUsers(db).where('end_users.environment_id', '=', environmentId)
  return await selectPage(query, page, 'end_users.created_at', 'end_users.id').execute()
}

export async function updateEndUser(db: Db, id: string, change: Updateable<EndUserTable>): Promise<void> {
  await db.updateTable('end_users').set(change).where('id', '=', id).execute()
}

/** Blocks the end user. Blocking it again keeps the first `blocked_at`. */
export async function blockEndUser(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('end_users')
    .set({ blocked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('blocked_at', 'is', null)
    .execute()
}

/** Unblocks the end user. Does nothing to one that is not blocked. */
export async function unblockEndUser(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('end_users')
    .set({ blocked_at: null, updated_at: now })
    .where('id', '=', id)
    .where('blocked_at', 'is not', null)
    .execute()
}

export async function removeEndUser(db: Db, id: string): Promise<void> {
  await db.deleteFrom('end_users').where('id', '=', id).execute()
}
