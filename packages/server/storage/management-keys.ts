import { isAfter, type Page } from './page.ts'
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

/** undefined where there is none or its organization was deleted. A revoked key is found. */
export async function findManagementKey(db: Db, id: string): Promise<ManagementKeyRow | undefined> {
  return await db
    .selectFrom('management_keys')
    .innerJoin('organizations', 'organizations.id', 'management_keys.org_id')
    .selectAll('management_keys')
    .where('management_keys.id', '=', id)
    .where('organizations.deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listManagementKeys(db: Db, orgId: string, page: Page): Promise<ManagementKeyRow[]> {
  return await db
    .selectFrom('management_keys')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(eb => isAfter(eb, 'created_at', 'id', page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/** The key as it then stands. A second revocation changes nothing: the first one's time is kept. */
export async function revokeManagementKey(db: Db, id: string, now: Date): Promise<ManagementKeyRow> {
  await db
    .updateTable('management_keys')
    .set({ revoked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return await db.selectFrom('management_keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
