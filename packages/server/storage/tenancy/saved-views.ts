import { sql } from 'kysely'
import type { SavedViewRow } from '../event-tables.ts'
import type { Db } from '../pool.ts'

/** What a user can save in one environment. */
export const MAX_SAVED_VIEWS = 100

/** What one list shows. */
const MAX_LISTED = 500

/** The user's views, of one environment or of all, by page and name. */
export async function listSavedViews(
  db: Db,
  userId: string,
  environmentId: string | undefined,
): Promise<SavedViewRow[]> {
  let query = db.selectFrom('saved_views').selectAll().where('user_id', '=', userId)
  if (environmentId !== undefined) query = query.where('environment_id', '=', environmentId)
  return await query.orderBy('page').orderBy('name').orderBy('id').limit(MAX_LISTED).execute()
}

/**
 * Stores a view in place of the user's earlier one of this id. Returns undefined if the user has as many in the environment
 * as are allowed, or the earlier one is of another environment. Concurrent calls of one user wait for each other.
 */
export async function putSavedView(db: Db, view: SavedViewRow): Promise<SavedViewRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`rideau.saved_views.${view.user_id}`}, 0))`.execute(
    db,
  )
  const { count } = await db
    .selectFrom('saved_views')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', view.user_id)
    .where('environment_id', '=', view.environment_id)
    .where('id', '!=', view.id)
    .executeTakeFirstOrThrow()
  if (Number(count) >= MAX_SAVED_VIEWS) return undefined
  const { page, name, search, updated_at } = view
  return await db
    .insertInto('saved_views')
    .values(view)
    .onConflict(conflict =>
      conflict
        .columns(['user_id', 'id'])
        .doUpdateSet({ page, name, search, updated_at })
        .where('saved_views.environment_id', '=', view.environment_id),
    )
    .returningAll()
    .executeTakeFirst()
}

/** Removes a view of the user; does nothing if there is none. */
export async function removeSavedView(db: Db, userId: string, id: string): Promise<void> {
  await db.deleteFrom('saved_views').where('user_id', '=', userId).where('id', '=', id).execute()
}
