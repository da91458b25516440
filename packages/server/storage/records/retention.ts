import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { withSessionLock } from '../session-lock.ts'

/** What a run removed. */
export interface RetentionResult {
  readonly droppedPartitions: readonly string[]
  readonly deletedRows: number
}

const DAY_MS = 86_400_000
/** Rows that one statement, and so one transaction, deletes: locks stay short. */
const BATCH_ROWS = 5_000
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Removes log rows that are older than their environment's `log_retention_days`, also below a deleted project or organization. Usage
 * records and rollups stay.
 *
 * A day that is too old for every environment that is not deleted is dropped as a partition: that takes milliseconds and frees the disk at
 * once. In newer days, rows of environments with a shorter retention are deleted in batches inside PostgreSQL; their disk
 * space is reused only by rows of the same day.
 *
 * An advisory lock lets one process run at a time: returns undefined if another one runs. The signal stops the run after
 * the current batch.
 */
export async function applyRetention(
  pool: Pool,
  now: Date,
  signal?: AbortSignal,
): Promise<RetentionResult | undefined> {
  return await withSessionLock(pool, 'rideau.retention', client => removeExpired(client, now, signal))
}

async function removeExpired(
  client: PoolClient,
  now: Date,
  signal: AbortSignal | undefined,
): Promise<RetentionResult> {
  const kept = await findRetention(client)
  if (kept === undefined) return { droppedPartitions: [], deletedRows: 0 }
  const dropped: string[] = []
  let deletedRows = 0
  for (const name of await listPartitions(client)) {
    if (signal?.aborted === true) break
    const endedAt = endOf(name)
    if (endedAt <= now.getTime() - kept.longest * DAY_MS) {
      if (await dropPartition(client, name)) dropped.push(name)
    } else if (endedAt - DAY_MS < now.getTime() - kept.shortest * DAY_MS) {
      deletedRows += await removeExpiredRows(client, name, now, signal)
    }
  }
  return { droppedPartitions: dropped, deletedRows }
}

/**
 * How long rows are kept, in days; undefined if there is no environment. Those of deleted projects and organizations keep no day for
 * longer than all others (`longest`, 0 without others: their log cannot be read), and their rows go at their own age (`shortest`).
 */
async function findRetention(client: PoolClient): Promise<{ longest: number; shortest: number } | undefined> {
  const { rows } = await client.query<{ longest: number; shortest: number | null }>(
    `select coalesce(max(log_retention_days) filter (where
          exists (select from projects p where p.id = e.project_id and p.deleted_at is null)
          and exists (select from organizations o where o.id = e.org_id and o.deleted_at is null)), 0) as longest,
        min(log_retention_days) as shortest
      from environments e`,
  )
  const [row] = rows
  return row === undefined || row.shortest === null ? undefined : { ...row, shortest: row.shortest }
}

/** Names of the request log's partitions, oldest first. */
async function listPartitions(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'request_logs'::regclass and c.relname ~ '^request_logs_[0-9]{8}$' order by 1`,
  )
  return rows.map(row => row.name)
}

/** The end of a partition, exclusive, in Unix milliseconds: `request_logs_20261121` ends when the 22nd begins. */
function endOf(name: string): number {
  const [, year, month, day] = /(\d{4})(\d{2})(\d{2})$/.exec(name) ?? []
  return Date.UTC(Number(year), Number(month) - 1, Number(day) + 1)
}

/** Returns false if a reader has locked the partition: the next run tries again. */
async function dropPartition(client: PoolClient, name: string): Promise<boolean> {
  try {
    await client.query('select drop_log_partition($1)', [name])
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}

/** Deletes the partition's expired rows and returns their number. */
async function removeExpiredRows(
  client: PoolClient,
  name: string,
  now: Date,
  signal: AbortSignal | undefined,
): Promise<number> {
  let total = 0
  for (;;) {
    const { rows } = await client.query<{ expired: number }>(
      'select expire_log_rows($1, $2, $3) as expired',
      [name, now, BATCH_ROWS],
    )
    const expired = rows[0]?.expired ?? 0
    total += expired
    if (expired < BATCH_ROWS || signal?.aborted === true) return total
  }
}
