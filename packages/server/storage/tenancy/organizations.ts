import { isNotDeleted } from '../live-owner.ts'
import { type Page, selectPage } from '../page.ts'
import type { Db } from '../pool.ts'
import type { OrganizationRow } from '../schema.ts'
import { defineTable } from '../table.ts'

const organizations = defineTable('organizations', isNotDeleted)

export const { insert: insertOrganization, find: findOrganization } = organizations
export const { updateExisting: updateOrganization } = organizations

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
export function isOrganizationSlugTaken(db: Db, slug: string): Promise<boolean> {
  return organizations.exists(db, { slug, deleted_at: null })
}

/** Locks the row until the transaction ends: changes of an organization's members run one after the other. */
export function lockOrganization(tx: Db, id: string): Promise<void> {
  return lockOrganizations(tx, [id])
}

/** Locks the rows in the order of their ids, so that no two transactions wait for each other. */
export async function lockOrganizations(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const query = tx.selectFrom('organizations').select('id').where('id', 'in', ids)
  await query.orderBy('id').forNoKeyUpdate().execute()
}

/** Marks the organization as deleted. The row stays, so that keys below it are answered with key_revoked. */
export function removeOrganization(db: Db, id: string, now: Date): Promise<boolean> {
  return organizations.setTimeOnce(db, id, 'deleted_at', now)
}
