import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { ProjectRow } from './schema.ts'

export async function insertProject(db: Db, row: ProjectRow): Promise<void> {
  await db.insertInto('projects').values(row).execute()
}

/** undefined where there is none, or it or its organization was deleted. */
export async function findProject(db: Db, id: string): Promise<ProjectRow | undefined> {
  return await db
    .selectFrom('projects')
    .innerJoin('organizations', 'organizations.id', 'projects.org_id')
    .selectAll('projects')
    .where('projects.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listProjects(db: Db, orgId: string, page: Page): Promise<ProjectRow[]> {
  return await db
    .selectFrom('projects')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

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

/** What may change of a project: an absent field stays as it is. */
export type ProjectChange = Partial<Pick<ProjectRow, 'name' | 'slug' | 'allowed_origins'>>

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

/** It stays as a tombstone, by which every key below it is told as revoked. */
export async function removeProject(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('projects')
    .set({ deleted_at: now, updated_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
}
