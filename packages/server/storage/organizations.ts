import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { OrganizationRow } from './schema.ts'

export async function insertOrganization(db: Db, row: OrganizationRow): Promise<void> {
  await db.insertInto('organizations').values(row).execute()
}

/** The organization; undefined if it does not exist or is deleted. */
export async function findOrganization(db: Db, id: string): Promise<OrganizationRow | undefined> {
  return await db
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** The organizations with these ids, without deleted ones. */
export async function listOrganizations(
  db: Db,
  ids: readonly string[],
  page: Page,
): Promise<OrganizationRow[]> {
  if (ids.length === 0) return []
  const query = db
    .selectFrom('organizations')
    .selectAll()
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** True if an organization has the slug. A deleted one gives its slug up. */
export async function isOrganizationSlugTaken(db: Db, slug: string): Promise<boolean> {
  const found = await db
    .selectFrom('organizations')
    .select('id')
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

/** Locks the row until the transaction ends: changes of an organization's members run one after the other. */
export async function lockOrganization(tx: Db, id: string): Promise<void> {
  await tx.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

/** Fields of an organization that can change. An absent field keeps its value. */
export type OrganizationChange = Partial<Pick<OrganizationRow, 'name' | 'slug' | 'time_zone'>>

/** Returns the changed row. Throws if there is none. */
export async function updateOrganization(
  db: Db,
  id: string,
  change: OrganizationChange,
  now: Date,
): Promise<OrganizationRow> {
  return await db
    .updateTable('organizations')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Marks the organization as deleted. The row stays, so that keys below it are answered with key_revoked. */
export async function removeOrganization(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('organizations')
    .set({ deleted_at: now, updated_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
}
