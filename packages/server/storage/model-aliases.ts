import type { Insertable, Selectable, Updateable } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import type { ModelAliasTable } from './model-tables.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'

export type ModelAliasRow = Selectable<ModelAliasTable>

/** The constraint that makes an alias unique in its environment. */
export const MODEL_ALIAS_NAME_CONSTRAINT = 'model_aliases_name'

export async function insertModelAlias(db: Db, row: Insertable<ModelAliasTable>): Promise<ModelAliasRow> {
  return await db.insertInto('model_aliases').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The alias; undefined if it does not exist, or its project or organization is deleted. */
export async function findModelAlias(db: Db, id: string): Promise<ModelAliasRow | undefined> {
  return await db
    .selectFrom('model_aliases')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('model_aliases'))
    .executeTakeFirst()
}

export async function listModelAliases(db: Db, environmentId: string, page: Page): Promise<ModelAliasRow[]> {
  const query = db.selectFrom('model_aliases').selectAll().where('environment_id', '=', environmentId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the changed row; undefined if it was removed in the meantime. */
export async function updateModelAlias(
  db: Db,
  id: string,
  change: Pick<Updateable<ModelAliasTable>, 'strategy' | 'targets'>,
  now: Date,
): Promise<ModelAliasRow | undefined> {
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
