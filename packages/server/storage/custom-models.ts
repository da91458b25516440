import type { Insertable, Selectable, Updateable } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import type { CustomModelTable } from './model-tables.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'

export type CustomModelRow = Selectable<CustomModelTable>

/** The constraint that makes a custom model's name unique in its environment. */
export const CUSTOM_MODEL_NAME_CONSTRAINT = 'custom_models_name'

export async function insertCustomModel(db: Db, row: Insertable<CustomModelTable>): Promise<CustomModelRow> {
  return await db.insertInto('custom_models').values(row).returningAll().executeTakeFirstOrThrow()
}

/** The custom model; undefined if it does not exist, or its project or organization is deleted. */
export async function findCustomModel(db: Db, id: string): Promise<CustomModelRow | undefined> {
  return await db
    .selectFrom('custom_models')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('custom_models'))
    .executeTakeFirst()
}

export async function listCustomModels(db: Db, environmentId: string, page: Page): Promise<CustomModelRow[]> {
  const query = db.selectFrom('custom_models').selectAll().where('environment_id', '=', environmentId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Fields of a custom model that can change. An absent field keeps its value. */
type CustomModelChange = Pick<
  Updateable<CustomModelTable>,
  'model' | 'capabilities' | 'context_window' | 'max_output_tokens' | 'pricing'
>

/** Returns the changed row; undefined if it was removed in the meantime. */
export async function updateCustomModel(
  db: Db,
  id: string,
  change: CustomModelChange,
  now: Date,
): Promise<CustomModelRow | undefined> {
  return await db
    .updateTable('custom_models')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

export async function removeCustomModel(db: Db, id: string): Promise<void> {
  await db.deleteFrom('custom_models').where('id', '=', id).execute()
}
