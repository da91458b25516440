import { hasLiveOrganization } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { ManagementKeyRow } from './schema.ts'

export async function insertManagementKey(db: Db, row: ManagementKeyRow): Promise<void> {
  await db.insertInto('management_keys').values(row).execute()
}

export interface ManagementKeyWithOrgRow extends ManagementKeyRow {
  /** Not null: the organization is deleted, and the key with it. */
  readonly org_deleted_at: Date | null
}

/** The key with this SHA-256, also a revoked, expired or deleted one, so that the error can name the reason. */
export async function findManagementKeyByHash(
  db: Db,
  hash: Buffer,
): Promise<ManagementKeyWithOrgRow | undefined> {
  return await db
    .selectFrom('management_keys')
    .innerJoin('organizations', 'organizations.id', 'management_keys.org_id')
    .selectAll('management_keys')
    .select('organizations.deleted_at as org_deleted_at')
    .where('hash', '=', hash)
    .executeTakeFirst()
}

export async function updateManagementKeyLastUsed(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('management_keys').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** The key, revoked or not; undefined if it does not exist or its organization is deleted. */
export async function findManagementKey(db: Db, id: string): Promise<ManagementKeyRow | undefined> {
  return await db
    .selectFrom('management_keys')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveOrganization('management_keys'))
    .executeTakeFirst()
}

export async function listManagementKeys(db: Db, orgId: string, page: Page): Promise<ManagementKeyRow[]> {
  const query = db.selectFrom('management_keys').selectAll().where('org_id', '=', orgId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the revoked key. Revoking it again keeps the first `revoked_at`. Throws if there is no such key. */
export async function revokeManagementKey(db: Db, id: string, now: Date): Promise<ManagementKeyRow> {
  await db
    .updateTable('management_keys')
    .set({ revoked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return await db.selectFrom('management_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
