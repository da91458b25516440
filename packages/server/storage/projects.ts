import { hasLiveOrganization } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { ProjectRow } from './schema.ts'

export async function insertProject(db: Db, row: ProjectRow): Promise<void> {
  await db.insertInto('projects').values(row).execute()
}

/** The project; undefined if it does not exist, or it or its organization is deleted. */
export async function findProject(db: Db, id: string): Promise<ProjectRow | undefined> {
  return await db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .where(hasLiveOrganization('projects'))
    .executeTakeFirst()
}

/** The organization's projects, without deleted ones. */
export async function listProjects(db: Db, orgId: string, page: Page): Promise<ProjectRow[]> {
  const query = db
    .selectFrom('projects')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** True if a project of the organization has the slug. A deleted one gives its slug up. */
export async function isProjectSlugTaken(db: Db, orgId: string, slug: string): Promise<boolean> {
  const found = await db
    .selectFrom('projects')
    .select('id')
    .where('org_id', '=', orgId)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

/** Fields of a project that can change. An absent field keeps its value. */
export type ProjectChange = Partial<Pick<ProjectRow, 'name' | 'slug' | 'allowed_origins'>>

/** Returns the changed row. Throws if there is none. */
export async function updateProject(
  db: Db,
  id: string,
  change: ProjectChange,
  now: Date,
): Promise<ProjectRow> {
  return await db
    .updateTable('projects')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Marks the project as deleted. The row stays, so that keys below it are answered with key_revoked. */
export async function removeProject(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('projects')
    .set({ deleted_at: now, updated_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
}
