import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { EnvironmentRow } from './schema.ts'

export async function insertEnvironment(db: Db, row: EnvironmentRow): Promise<void> {
  await db.insertInto('environments').values(row).execute()
}

/** The environment; undefined if it does not exist, or its project or organization is deleted. */
export async function findEnvironment(db: Db, id: string): Promise<EnvironmentRow | undefined> {
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('environments'))
    .executeTakeFirst()
}

export async function listEnvironments(db: Db, projectId: string, page: Page): Promise<EnvironmentRow[]> {
  const query = db.selectFrom('environments').selectAll().where('project_id', '=', projectId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Fields of an environment that can change. An absent field keeps its value. */
export type EnvironmentChange = Partial<
  Pick<
    EnvironmentRow,
    | 'log_retention_days'
    | 'log_capture'
    | 'allowed_models'
    | 'unsupported_params'
    | 'on_client_gone'
    | 'allow_client_passthrough'
    | 'allow_secret_key_in_browser'
  >
>

/** Returns the changed row. Throws if there is none. */
export async function updateEnvironment(
  db: Db,
  id: string,
  change: EnvironmentChange,
  now: Date,
): Promise<EnvironmentRow> {
  return await db
    .updateTable('environments')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
