import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import { removeInBatches } from '../remove-in-batches.ts'
import type { IdempotentCreateRow } from '../schema.ts'

/** Returns the kept answer; undefined if there is none. Deletes one that has expired. */
export async function findIdempotentCreate(
  db: Db,
  hash: Buffer,
  now: Date,
): Promise<IdempotentCreateRow | undefined> {
  const row = await db
    .selectFrom('idempotent_creates')
    .selectAll()
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined || row.expires_at > now) return row
  await db.deleteFrom('idempotent_creates').where('hash', '=', hash).where('expires_at', '<=', now).execute()
  return undefined
}

/**
 * Keeps an answer and returns true; returns false if one is kept for this hash. Waits for a concurrent transaction that
 * inserts the same hash.
 */
export async function insertIdempotentCreate(db: Db, row: IdempotentCreateRow): Promise<boolean> {
  const inserted = await db
    .insertInto('idempotent_creates')
    .values(row)
    .onConflict(conflict => conflict.column('hash').doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Deletes expired answers in batches. */
export async function removeExpiredCreates(db: Db, now: Date): Promise<void> {
  await removeInBatches(db, 'idempotent_creates', sql`expires_at <= ${now}`)
}
