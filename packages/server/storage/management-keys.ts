import type { Db } from './pool.ts'
import type { ManagementKeyRow } from './schema.ts'

export async function insertManagementKey(db: Db, row: ManagementKeyRow): Promise<void> {
  await db.insertInto('management_keys').values(row).execute()
}

export interface PresentedManagementKey extends ManagementKeyRow {
  /** Set: the key's organization was deleted, and every key of it with it. */
  readonly org_deleted_at: Date | null
}

/** By the SHA-256 of the whole key; also revoked and expired ones, so that the answer can say so. */
export async function findManagementKeyByHash(
  db: Db,
  hash: Buffer,
): Promise<PresentedManagementKey | undefined> {
  return await db
    .selectFrom('management_keys')
    .innerJoin('organizations', 'organizations.id', 'management_keys.org_id')
    .selectAll('management_keys')
    .select('organizations.deleted_at as org_deleted_at')
    .where('hash', '=', hash)
    .executeTakeFirst()
}

export async function touchManagementKey(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('management_keys').set({ last_used_at: now }).where('id', '=', id).execute()
}
