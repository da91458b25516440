import type { Insertable, Selectable, Updateable } from 'kysely'
import type { CustomModelRow } from './model-tables.ts'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'

export type StoredCustomModel = Selectable<CustomModelRow>

/** What the unique index on an environment's own models is called. */
export const CUSTOM_MODEL_INDEX = 'custom_models_name'

export async function insertCustomModel(db: Db, row: Insertable<CustomModelRow>): Promise<StoredCustomModel> {
  return await db.insertInto('custom_models').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findCustomModel(db: Db, id: string): Promise<StoredCustomModel | undefined> {
  return await db
    .selectFrom('custom_models')
    .innerJoin('projects', 'projects.id', 'custom_models.project_id')
    .innerJoin('organizations', 'organizations.id', 'custom_models.org_id')
    .selectAll('custom_models')
    .where('custom_models.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listCustomModels(
  db: Db,
  environmentId: string,
  page: Page,
): Promise<StoredCustomModel[]> {
  return await db
    .selectFrom('custom_models')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** undefined: it was removed meanwhile. */
export async function updateCustomModel(
  db: Db,
  id: string,
  change: Pick<
    Updateable<CustomModelRow>,
    'model' | 'capabilities' | 'context_window' | 'max_output_tokens' | 'pricing'
  >,
  now: Date,
): Promise<StoredCustomModel | undefined> {
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
