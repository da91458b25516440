import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { EnvironmentRow } from './schema.ts'

export async function insertEnvironment(db: Db, row: EnvironmentRow): Promise<void> {
  await db.insertInto('environments').values(row).execute()
}

/** undefined where there is none, or its project or organization was deleted. */
export async function findEnvironment(db: Db, id: string): Promise<EnvironmentRow | undefined> {
  return await db
    .selectFrom('environments')
    .innerJoin('projects', 'projects.id', 'environments.project_id')
    .innerJoin('organizations', 'organizations.id', 'environments.org_id')
    .selectAll('environments')
    .where('environments.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listEnvironments(db: Db, projectId: string, page: Page): Promise<EnvironmentRow[]> {
  return await db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** What may change of an environment: an absent field stays as it is. */
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
