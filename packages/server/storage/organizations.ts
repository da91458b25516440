import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { MemberRow, OrganizationRow } from './schema.ts'

export async function insertOrganization(db: Db, row: OrganizationRow): Promise<void> {
  await db.insertInto('organizations').values(row).execute()
}

export async function insertMember(db: Db, row: MemberRow): Promise<void> {
  await db.insertInto('members').values(row).execute()
}

/** undefined where there is none or it was deleted. */
export async function findOrganization(db: Db, id: string): Promise<OrganizationRow | undefined> {
  return await db
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Of the given ids, newest first. */
export async function listOrganizations(
  db: Db,
  ids: readonly string[],
  page: Page,
): Promise<OrganizationRow[]> {
  return await db
    .selectFrom('organizations')
    .selectAll()
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}
