import { type RawBuilder, sql } from 'kysely'
import type { Db } from './pool.ts'

/** Rows that one statement deletes, so that its locks are short, and it ends in time however many there are. */
const BATCH_ROWS = 1_000

/** Deletes the rows in batches. Leaves those that are locked to the next run. The signal stops it before the next batch. */
export async function removeInBatches(
  db: Db,
  table: string,
  where: RawBuilder<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  while (signal?.aborted !== true && (await removeBatch(db, table, where)));
}

/** Deletes up to BATCH_ROWS of the rows, none that is locked. Returns true if it deleted so many: there may be more. */
export async function removeBatch(db: Db, table: string, where: RawBuilder<boolean>): Promise<boolean> {
  const rows = sql.table(table)
  const { numAffectedRows = 0n } = await sql`delete from ${rows} where ctid = any(array(
    select ctid from ${rows} where ${where} limit ${BATCH_ROWS} for update skip locked))`.execute(db)
  return numAffectedRows >= BATCH_ROWS
}
