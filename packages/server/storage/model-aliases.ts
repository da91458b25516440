import type { Insertable, Selectable, Updateable } from 'kysely'
import type { ModelAliasRow } from './model-tables.ts'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'

export type StoredAlias = Selectable<ModelAliasRow>

/** What the unique index on an environment's aliases is called. */
export const ALIAS_NAME_INDEX = 'model_aliases_name'

export async function insertModelAlias(db: Db, row: Insertable<ModelAliasRow>): Promise<StoredAlias> {
  return await db.insertInto('model_aliases').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findModelAlias(db: Db, id: string): Promise<StoredAlias | undefined> {
  return await db
    .selectFrom('model_aliases')
    .innerJoin('projects', 'projects.id', 'model_aliases.project_id')
    .innerJoin('organizations', 'organizations.id', 'model_aliases.org_id')
    .selectAll('model_aliases')
    .where('model_aliases.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listModelAliases(db: Db, environmentId: string, page: Page): Promise<StoredAlias[]> {
  return await db
    .selectFrom('model_aliases')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** undefined: it was removed meanwhile. */
export async function updateModelAlias(
  db: Db,
  id: string,
  change: Pick<Updateable<ModelAliasRow>, 'strategy' | 'targets'>,
  now: Date,
): Promise<StoredAlias | undefined> {
  return await db
    .updateTable('model_aliases')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

export async function removeModelAlias(db: Db, id: string): Promise<void> {
  await db.deleteFrom('model_aliases').where('id', '=', id).execute()
}
