import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { OrganizationRow } from './schema.ts'

export async function insertOrganization(db: Db, row: OrganizationRow): Promise<void> {
  await db.insertInto('organizations').values(row).execute()
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
  if (ids.length === 0) return []
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

export async function isOrganizationSlugTaken(db: Db, slug: string): Promise<boolean> {
  const found = await db
    .selectFrom('organizations')
    .select('id')
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

/** Whoever changes an organization's members does so one after the other, until the transaction's end. */
export async function lockOrganization(tx: Db, id: string): Promise<void> {
  await tx.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute()
}

/** What may change of an organization: an absent field stays as it is. */
export type OrganizationChange = Partial<Pick<OrganizationRow, 'name' | 'slug' | 'time_zone'>>

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

/** It stays as a tombstone, by which every key below it is told as revoked. */
export async function removeOrganization(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('organizations')
    .set({ deleted_at: now, updated_at: now })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
}
