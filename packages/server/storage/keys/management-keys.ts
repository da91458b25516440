import { hasLiveOrganization } from '../live-owner.ts'
import type { Db } from '../pool.ts'
import type { ManagementKeyRow } from '../schema.ts'
import { defineTable } from '../table.ts'

const keys = defineTable('management_keys', hasLiveOrganization)

export const { insert: insertManagementKey, find: findManagementKey } = keys

/** Revoked and expired keys too. */
export const listManagementKeys = keys.listBy('org_id')

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

/** Returns the revoked key. Revoking it again keeps the first `revoked_at`. Throws if there is no such key. */
export async function revokeManagementKey(db: Db, id: string, now: Date): Promise<ManagementKeyRow> {
  await keys.setTimeOnce(db, id, 'revoked_at', now)
  return await keys.get(db, id)
}
