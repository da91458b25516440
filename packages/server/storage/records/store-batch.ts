import { DatabaseError, type Pool, type PoolClient } from 'pg'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { copyRows, type Row } from './copy-rows.ts'
import { toDayPartition, toMonthPartition } from './partitions.ts'
import { LOG_FIELDS, LOG_LIST, USAGE_FIELDS, USAGE_LIST } from './record-encoder.ts'
import { BEGIN_STORING } from './storing.ts'
import { addToRollups } from './usage-rollups.ts'
import { type UsageSum, UsageSums } from './usage-sums.ts'

const UNIQUE_VIOLATION = '23505'
const NOT_SUPPORTED = '0A000'
/** Another process may store the same records at the same time, but each of them only once. */
const MAX_ATTEMPTS = 3

/** Pools whose user COPY refuses to write to a table with row-level security. */
const writesPartitions = new WeakSet<Pool>()

/** The fields of a record's rows as bytes, in PostgreSQL's binary format of COPY (row-writer.ts). */
export interface StoredRows {
  readonly id: string
  /** The UTC day of the record, such as `2026-11-21`. */
  readonly day: string
  readonly bytes: Buffer
  /** Where both rows begin: that of the log begins with that of the usage record. */
  readonly start: number
  readonly usageEnd: number
  readonly logEnd: number
}

/** A record with the bytes of its rows. */
export interface EncodedRecord extends StoredRows {
  readonly record: RequestRecord
}

/**
 * Stores, in one transaction, those records that are not stored yet. If another process stores one of them meanwhile, the primary
 * key of usage_records refuses the batch, which is tried again without it.
 */
export async function storeOnce(pool: Pool, batch: readonly EncodedRecord[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    const missing = await listMissing(pool, batch)
    try {
      const sums = new UsageSums()
      for (const { record } of missing) sums.add(record)
      return await storeNew(pool, missing, sums.list(), () => true)
    } catch (error) {
      if (!isStoredAlready(error) || tries === MAX_ATTEMPTS) throw error
    }
  }
}

/** True if a record of the batch was stored before. */
export function isStoredAlready(error: unknown): boolean {
  return isCode(error, UNIQUE_VIOLATION)
}

/**
 * Stores records of which none is stored yet in one transaction: their rows by COPY, and their sums in the rollups.
 * Writers that may have the same records give them in the same order, or they could wait for each other in a circle.
 * Leaves the database pauses until `isHurried`.
 */
export async function storeNew(
  pool: Pool,
  rows: readonly StoredRows[],
  sums: readonly UsageSum[],
  isHurried: () => boolean,
): Promise<void> {
  if (rows.length === 0) return
  const [logs, usage] = writesPartitions.has(pool) ? [LOGS_BY_PARTITION, USAGE_BY_PARTITION] : [LOGS, USAGE]
  try {
    await inTransaction(pool, async client => {
      await client.query(BEGIN_STORING)
      await copy(client, rows, logs, isHurried)
      await copy(client, rows, usage, isHurried)
      await addToRollups(client, sums)
      await client.query('commit')
    })
  } catch (error) {
    // A user who may not create roles has FORCE ROW LEVEL SECURITY instead. It applies to no partition.
    if (!isCode(error, NOT_SUPPORTED) || writesPartitions.has(pool)) throw error
    writesPartitions.add(pool)
    await storeNew(pool, rows, sums, isHurried)
  }
}

async function inTransaction(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await work(client)
  } catch (error) {
    // Without an answer of the database the connection is in an unknown state.
    if (error instanceof DatabaseError)
      await client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      )
    else client.release(true)
    throw error
  }
  client.release()
}

/** Where rows go, and what they are. */
interface Target {
  readonly tableOf: (day: string) => string
  readonly columns: string
  readonly fields: number
  readonly rowOf: (rows: StoredRows) => Row
}

const LOGS: Target = {
  tableOf: () => 'request_logs',
  columns: LOG_LIST,
  fields: LOG_FIELDS,
  rowOf: ({ bytes, start, logEnd }) => ({ bytes, start, end: logEnd }),
}
const USAGE: Target = {
  tableOf: () => 'usage_records',
  columns: USAGE_LIST,
  fields: USAGE_FIELDS,
  rowOf: ({ bytes, start, usageEnd }) => ({ bytes, start, end: usageEnd }),
}
const LOGS_BY_PARTITION: Target = { ...LOGS, tableOf: day => toDayPartition(day).child }
const USAGE_BY_PARTITION: Target = { ...USAGE, tableOf: day => toMonthPartition(day).child }

async function copy(
  client: PoolClient,
  records: readonly StoredRows[],
  target: Target,
  isHurried: () => boolean,
): Promise<void> {
  const rowsByTable = new Map<string, Row[]>()
  for (const record of records) {
    const table = target.tableOf(record.day)
    const rows = rowsByTable.get(table)
    if (rows === undefined) rowsByTable.set(table, [target.rowOf(record)])
    else rows.push(target.rowOf(record))
  }
  for (const [table, rows] of rowsByTable) {
    await copyRows(client, `${table} (${target.columns})`, target.fields, rows, isHurried)
  }
}

/** Returns the records that are not stored. Usage records are kept for ever, also if their row of the log is gone. */
async function listMissing(pool: Pool, batch: readonly EncodedRecord[]): Promise<EncodedRecord[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'find_stored_records',
    text: `select id from usage_records where (environment_id, at, id) in (
      select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]))`,
    values: [
      batch.map(({ record }) => record.environment_id),
      batch.map(({ record }) => record.at),
      batch.map(({ record }) => record.id),
    ],
  })
  const stored = new Set(rows.map(({ id }) => id))
  return batch.filter(({ record }) => !stored.has(record.id.toLowerCase()))
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code
}
