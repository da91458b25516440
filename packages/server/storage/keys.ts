import { sql } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import { type Page, selectPage } from './page.ts'
import type { Db } from './pool.ts'
import type { KeyRow } from './schema.ts'

export async function insertKey(db: Db, row: KeyRow): Promise<void> {
  await db.insertInto('keys').values(row).execute()
}

/** The key, revoked or not; undefined if it does not exist, or its project or organization is deleted. */
export async function findKey(db: Db, id: string): Promise<KeyRow | undefined> {
  return await db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', id)
    .where(hasLiveProject('keys'))
    .executeTakeFirst()
}

export async function listKeys(db: Db, environmentId: string, page: Page): Promise<KeyRow[]> {
  const query = db.selectFrom('keys').selectAll().where('environment_id', '=', environmentId)
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** Returns the revoked key. Revoking it again keeps the first `revoked_at`. Throws if there is no such key. */
export async function revokeKey(db: Db, id: string, now: Date): Promise<KeyRow> {
  await db
    .updateTable('keys')
    .set({ revoked_at: now, updated_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return await db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** Fields of a key that can change. An absent field keeps its value. */
export type KeyChange = Partial<
  Pick<
    KeyRow,
    | 'name'
    | 'scopes'
    | 'allowed_models'
    | 'allowed_endpoints'
    | 'max_request_cost_nano_usd'
    | 'expires_at'
    | 'rolled_to'
  >
>

/** Returns the changed row. Throws if there is none. */
export async function updateKey(db: Db, id: string, change: KeyChange, now: Date): Promise<KeyRow> {
  return await db
    .updateTable('keys')
    .set({ ...change, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Returns the key and locks it until the transaction ends. Throws if there is no such key. */
export async function lockKey(tx: Db, id: string): Promise<KeyRow> {
  return await tx.selectFrom('keys').selectAll().where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
}

/**
 * Stores when keys were last used, in Unix milliseconds by key id. `last_used_at` never moves back. One statement for all
 * keys; it sends no change notification.
 */
export async function updateKeysLastUsed(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  const times = [...uses.values()].map(at => new Date(at))
  await sql`update keys set last_used_at = used.at
    from unnest(${[...uses.keys()]}::uuid[], ${times}::timestamptz[]) as used (id, at)
    where keys.id = used.id and (keys.last_used_at is null or keys.last_used_at < used.at)`.execute(db)
}
