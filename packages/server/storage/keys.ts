import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { KeyRow } from './schema.ts'

export async function insertKey(db: Db, row: KeyRow): Promise<void> {
  await db.insertInto('keys').values(row).execute()
}

/** undefined where there is none, or its project or organization was deleted. A revoked key is found. */
export async function findKey(db: Db, id: string): Promise<KeyRow | undefined> {
  return await db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.id', 'keys.project_id')
    .innerJoin('organizations', 'organizations.id', 'keys.org_id')
    .selectAll('keys')
    .where('keys.id', '=', id)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listKeys(db: Db, environmentId: string, page: Page): Promise<KeyRow[]> {
  return await db
    .selectFrom('keys')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The key as it then stands. A second revocation changes nothing: the first one's time is kept. */
export async function revokeKey(db: Db, id: string, now: Date): Promise<KeyRow> {
  await db
    .updateTable('keys')
    .set({ revoked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
