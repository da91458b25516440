import { sql } from 'kysely'
import { hasLiveProject } from '../live-owner.ts'
import { type Page, selectPage } from '../page.ts'
import type { Db } from '../pool.ts'
import type { KeyRow } from '../schema.ts'
import { defineTable } from '../table.ts'

const keys = defineTable('keys', hasLiveProject)

export const { insert: insertKey, find: findKey, updateExisting: updateKey } = keys

export const KEY_STATES = ['active', 'expired', 'revoked'] as const

/** Which keys of an environment to list. */
export interface KeyFilter {
  /** What the name begins with, in any case. */
  readonly beginning?: string | undefined
  readonly state?: { readonly is: (typeof KEY_STATES)[number]; readonly at: Date } | undefined
}

/** Lists keys, without a state revoked and expired ones too. */
export async function listKeys(
  db: Db,
  environmentId: string,
  page: Page,
  { beginning, state }: KeyFilter = {},
): Promise<KeyRow[]> {
  let query = db.selectFrom('keys').selectAll().where('environment_id', '=', environmentId)
  if (beginning !== undefined) {
    const pattern = `${beginning.replace(/[\\%_]/g, found => `\\${found}`)}%`
    // Both by PostgreSQL: JavaScript has other lower-case letters for some, such as `İ` and the `Σ` at the end of a word.
    query = query.where(sql<string>`lower(name)`, 'like', sql<string>`lower(${pattern})`)
  }
  if (state?.is === 'revoked') query = query.where('revoked_at', 'is not', null)
  if (state?.is === 'expired') {
    query = query.where('revoked_at', 'is', null).where('expires_at', '<=', state.at)
  }
  if (state?.is === 'active') {
    query = query
      .where('revoked_at', 'is', null)
      .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', state.at)]))
  }
  return await selectPage(query, page, 'created_at', 'id').execute()
}

/** The ids of up to `limit` of the environment's keys with one of these names, revoked and expired ones too. */
export async function listKeyIds(
  db: Db,
  environmentId: string,
  names: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('keys')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('name', 'in', names)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

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
 * keys; it sends no change notification. Locks the keys in the order of their ids, since the workers of a machine store
 * theirs at the same moment.
 */
export async function updateKeysLastUsed(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  const ids = [...uses.keys()]
  const times = [...uses.values()].map(at => new Date(at))
  await sql`with locked as materialized (
      select id from keys where id = any(${ids}::uuid[]) order by id for no key update
    )
    update keys set last_used_at = used.at
    from locked join unnest(${ids}::uuid[], ${times}::timestamptz[]) as used (id, at) using (id)
    where keys.id = locked.id and (keys.last_used_at is null or keys.last_used_at < used.at)`.execute(db)
}
