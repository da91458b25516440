import type { Selectable } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { EndUserTable } from './policy-tables.ts'
import type { Db } from './pool.ts'
import { defineTable } from './table.ts'

/** An end user with the name of its plan; null: it has no plan of its own. */
export type EndUserWithPlanRow = Selectable<EndUserTable> & { readonly plan: string | null }

const endUsers = defineTable('end_users', hasLiveProject)

export const { insert: insertEndUser, update: updateEndUser, remove: removeEndUser } = endUsers

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
  const row = await endUsers.findMatch(db, { environment_id: environmentId, external_id: externalId })
  return row?.id
}

export async function listEndUsers(db: Db, environmentId: string, page: Page): Promise<EndUserWithPlanRow[]> {
  const query = selectEndUsers(db).where('end_users.environment_id', '=', environmentId)
  return await selectPage(query, page, 'end_users.created_at', 'end_users.id').execute()
}

/** Blocks the end user. Blocking it again keeps the first `blocked_at`. */
export function blockEndUser(db: Db, id: string, now: Date): Promise<void> {
  return endUsers.setTimeOnce(db, id, 'blocked_at', now)
}

/** Unblocks the end user. Does nothing to one that is not blocked. */
export async function unblockEndUser(db: Db, id: string, now: Date): Promise<void> {
  const set = { blocked_at: null, updated_at: now }
  await db
    .updateTable('end_users')
    .set(set)
    .where('id', '=', id)
    .where('blocked_at', 'is not', null)
    .execute()
}
