import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { copyRows } from './copy-rows.ts'
import { toDayPartition, toMonthPartition } from './partitions.ts'
import { type EncodedRecord, LOG_LIST, USAGE_LIST } from './record-batch.ts'
import { addToRollups } from './usage-rollups.ts'
import { sumRecords } from './usage-sums.ts'

const UNIQUE_VIOLATION = '23505'
const NOT_SUPPORTED = '0A000'
/** Another process may store the same records at the same time, but each of them only once. */
const MOST_TRIES = 3

/** Pools whose user COPY refuses to write to a table with row-level security. */
const writesPartitions = new WeakSet<Pool>()

/**
 * Stores the records in one transaction: their rows by COPY, and the sums of the batch in the rollups. Expects that no
 * record is stored yet. If one is, the primary key of usage_records refuses the batch, which is tried again without it.
 */
export async function storeOnce(pool: Pool, batch: readonly EncodedRecord[]): Promise<void> {
  let missing = batch
  for (let tries = 1; ; tries++) {
    try {
      return await store(pool, missing)
    } catch (error) {
      if (!isCode(error, UNIQUE_VIOLATION) || tries === MOST_TRIES) throw error
      missing = await findMissing(pool, batch)
    }
  }
}

async function store(pool: Pool, missing: readonly EncodedRecord[]): Promise<void> {
  try {
    await inTransaction(pool, client => write(client, missing, writesPartitions.has(pool)))
  } catch (error) {
    // A user who may not create roles has FORCE ROW LEVEL SECURITY instead. It applies to no partition.
    if (!isCode(error, NOT_SUPPORTED) || writesPartitions.has(pool)) throw error
    writesPartitions.add(pool)
    await store(pool, missing)
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

/** A process that stops before its commit must not hold up for ever the others, which wait for the rollups that it has locked. */
const BEGIN = `begin; set local idle_in_transaction_session_timeout = '10s'`

async function write(
  client: PoolClient,
  missing: readonly EncodedRecord[],
  isByPartition: boolean,
): Promise<void> {
  if (missing.length === 0) return
  await client.query(BEGIN)
  await copy(client, missing, isByPartition ? LOGS_BY_PARTITION : LOGS)
  await copy(client, missing, isByPartition ? USAGE_BY_PARTITION : USAGE)
  await addToRollups(client, sumRecords(missing.map(({ record }) => record)))
  await client.query('commit')
}

/** Where rows go, and what they are. */
interface Target {
  readonly tableOf: (day: string) => string
  readonly columns: string
  readonly rowOf: (record: EncodedRecord) => string
}

const LOGS: Target = { tableOf: () => 'request_logs', columns: LOG_LIST, rowOf: ({ logRow }) => logRow }
const USAGE: Target = {
  tableOf: () => 'usage_records',
  columns: USAGE_LIST,
  rowOf: ({ usageRow }) => usageRow,
}
const LOGS_BY_PARTITION: Target = { ...LOGS, tableOf: day => toDayPartition(day).child }
const USAGE_BY_PARTITION: Target = { ...USAGE, tableOf: day => toMonthPartition(day).child }

async function copy(client: PoolClient, records: readonly EncodedRecord[], target: Target): Promise<void> {
  const rowsByTable = new Map<string, string[]>()
  for (const each of records) {
    const table = target.tableOf(each.record.at.slice(0, 10))
    const rows = rowsByTable.get(table)
    if (rows === undefined) rowsByTable.set(table, [target.rowOf(each)])
    else rows.push(target.rowOf(each))
  }
  for (const [table, rows] of rowsByTable) {
    await copyRows(client, `copy ${table} (${target.columns}) from stdin`, rows)
  }
}

/** Returns the records that are not stored. Usage records are kept for ever, also if their row of the log is gone. */
async function findMissing(pool: Pool, batch: readonly EncodedRecord[]): Promise<EncodedRecord[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'find_stored_records',
    text: 'select id from usage_records where (at, id) in (select * from unnest($1::timestamptz[], $2::uuid[]))',
    values: [batch.map(({ record }) => record.at), batch.map(({ record }) => record.id)],
  })
  const stored = new Set(rows.map(({ id }) => id))
  return batch.filter(({ record }) => !stored.has(record.id.toLowerCase()))
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code
}
