import type { Insertable, Selectable, Updateable } from 'kysely'
import { isAfter, type Page } from './page.ts'
import type { EndUserRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

/** With its plan's name. */
export type StoredEndUser = Selectable<EndUserRow> & { readonly plan: string | null }

export async function insertEndUser(db: Db, row: Insertable<EndUserRow>): Promise<void> {
  await db.insertInto('end_users').values(row).execute()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findEndUser(db: Db, id: string): Promise<StoredEndUser | undefined> {
  return await db
    .selectFrom('end_users')
    .innerJoin('projects', 'projects.id', 'end_users.project_id')
    .innerJoin('organizations', 'organizations.id', 'end_users.org_id')
    .leftJoin('plans', 'plans.id', 'end_users.plan_id')
    .selectAll('end_users')
    .select('plans.name as plan')
    .where('end_users.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

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

export async function listEndUsers(db: Db, environmentId: string, page: Page): Promise<StoredEndUser[]> {
  return await db
    .selectFrom('end_users')
    .leftJoin('plans', 'plans.id', 'end_users.plan_id')
    .selectAll('end_users')
    .select('plans.name as plan')
    .where('end_users.environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'end_users.created_at', 'end_users.id', page))
    .orderBy('end_users.created_at', 'desc')
    .orderBy('end_users.id', 'desc')
    .limit(page.limit)
    .execute()
}

export async function updateEndUser(db: Db, id: string, change: Updateable<EndUserRow>): Promise<void> {
  await db.updateTable('end_users').set(change).where('id', '=', id).execute()
}

/** A second call changes nothing: the first one's time is kept. */
export async function blockEndUser(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('end_users')
    .set({ blocked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('blocked_at', 'is', null)
    .execute()
}

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
