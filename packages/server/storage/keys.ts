import { sql } from 'kysely'
import { hasLiveProject } from './live-owner.ts'
import type { Db } from './pool.ts'
import type { KeyRow } from './schema.ts'
import { defineTable } from './table.ts'

const keys = defineTable('keys', hasLiveProject)

export const { insert: insertKey, find: findKey, updateExisting: updateKey } = keys

/** Revoked and expired keys too. */
export const listKeys = keys.listBy('environment_id')

/** Returns the revoked key. Revoking it again keeps the first `revoked_at`. Throws if there is no such key. */
export async function revokeKey(db: Db, id: string, now: Date): Promise<KeyRow> {
  await keys.setTimeOnce(db, id, 'revoked_at', now)
  return await keys.get(db, id)
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
