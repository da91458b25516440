import { sql } from 'kysely'
import type { Db } from '../pool.ts'

/** The class of the advisory locks that transactions hold while they store records. */
const STORING = 24
/** When the transaction began, in whole seconds since 2020: a lock's number has 32 bits. */
const BEGUN = `floor(extract(epoch from now()) - ${Date.UTC(2020, 0, 1) / 1000})::integer`

/**
 * Begins a transaction that stores records, and locks the second of its beginning, so that readers know of it before a row of it has a time.
 * A process that stops before its commit must not hold up for ever the others, which wait for the rollups that it has locked.
 */
export const BEGIN_STORING = `begin; set local idle_in_transaction_session_timeout = '10s';
  select pg_advisory_xact_lock_shared(${STORING}, ${BEGUN})`

/**
 * Returns a time before which every row of the log that will ever have an earlier `stored_at` is visible to the next statement: now, or the
 * beginning of the oldest transaction that still stores records. Writers commit in another order than they begin in.
 */
export async function getStoredUntil(db: Db): Promise<Date> {
  const { rows } = await sql<{ until: Date }>`
    select date_trunc('milliseconds', least(statement_timestamp(),
      timestamptz '2020-01-01 00:00:00Z' + min(objid::bigint) * interval '1 second')) as until
    from pg_locks where locktype = 'advisory' and classid = ${STORING} and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return (rows[0] as { until: Date }).until
}
