import type { Db } from '../pool.ts'
import type { IdempotentCreateRow } from '../schema.ts'

/** Rows that one statement deletes, so that its locks are short. */
const BATCH_ROWS = 1_000

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
  for (;;) {
    const expired = db
      .selectFrom('idempotent_creates')
      .select('id')
      .where('expires_at', '<=', now)
      .limit(BATCH_ROWS)
    const { numDeletedRows } = await db
      .deleteFrom('idempotent_creates')
      .where('id', 'in', expired)
      .executeTakeFirst()
    if (numDeletedRows < BATCH_ROWS) return
  }
}
