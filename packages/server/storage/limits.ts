import { isAfter, type Page } from './page.ts'
import type { LimitRow } from './policy-tables.ts'
import type { Db } from './pool.ts'

export async function insertLimit(db: Db, row: LimitRow): Promise<LimitRow> {
  return await db.insertInto('limits').values(row).returningAll().executeTakeFirstOrThrow()
}

/** undefined where there is none, or its project, where it has one, or organization was deleted. */
export async function findLimit(db: Db, id: string): Promise<LimitRow | undefined> {
  return await db
    .selectFrom('limits')
    .leftJoin('projects', 'projects.id', 'limits.project_id')
    .innerJoin('organizations', 'organizations.id', 'limits.org_id')
    .selectAll('limits')
    .where('limits.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Those that were made for the organization itself. */
export async function listOrganizationLimits(db: Db, orgId: string, page: Page): Promise<LimitRow[]> {
  return await db
    .selectFrom('limits')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('environment_id', 'is', null)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

export async function listEnvironmentLimits(db: Db, environmentId: string, page: Page): Promise<LimitRow[]> {
  return await db
    .selectFrom('limits')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The row as it then stands; undefined where it has gone meanwhile. */
export async function updateLimit(
  db: Db,
  id: string,
  change: Partial<LimitRow>,
): Promise<LimitRow | undefined> {
  return await db.updateTable('limits').set(change).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function removeLimit(db: Db, id: string): Promise<void> {
  await db.deleteFrom('limits').where('id', '=', id).execute()
}
