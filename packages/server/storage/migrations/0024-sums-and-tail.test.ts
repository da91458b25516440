import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import { createPartitions } from '../records/partitions.ts'
import type { EnvironmentRow } from '../schema.ts'
import { MIGRATIONS } from './index.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const KEY = newId()
const HOUR = '2026-11-21T12:00:00.000Z'
const at = (ms: number): number => Date.parse(HOUR) + ms
const toRecord = (ms: number) =>
  requestRecord(ENVIRONMENT, newId(), at(ms), { key_id: KEY, end_user_id: 'alice', sandbox: false })

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

/** Stores a record as an earlier version does: into the table, or into its partition where its user may not create roles. */
async function insertInto(table: string, record: ReturnType<typeof requestRecord>): Promise<void> {
  await database?.pool.query(
    `insert into ${table} select * from json_populate_record(null::usage_records, $1::json)`,
    [JSON.stringify(record)],
  )
}

async function listRollups() {
  const result = await database?.pool.query(
    `select kind, ref, hour, requests, served_requests, input_tokens, output_tokens, cost_nano_usd, last_at
      from meter_rollups order by kind, hour`,
  )
  return result?.rows
}

const sumOf = (requests: number, lastAt: number) => ({
  hour: new Date(HOUR),
  requests,
  served_requests: requests,
  input_tokens: 16 * requests,
  output_tokens: 10 * requests,
  cost_nano_usd: 1_234_567 * requests,
  last_at: new Date(lastAt),
})
const rollups = (requests: number, lastAt: number) =>
  [
    ['end_user', 'alice'],
    ['environment', ''],
    ['key', KEY],
  ].map(([kind, ref]) => ({ kind, ref, ...sumOf(requests, lastAt) }))

test('records from before the migration are summed, and then those of every version', async () => {
  database = await emptyDatabase()
  const { connection, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0024')
  await migrateDatabase(connection, () => {}, before)
  await createPartitions(pool, ['2026-11-21'])
  await insertInto('usage_records', toRecord(0))
  await insertInto('usage_records', toRecord(5))
  await migrateDatabase(connection, () => {})
  expect(await listRollups()).toEqual(rollups(2, at(5)))
  await insertInto('usage_records', toRecord(3))
  await insertInto('usage_records_202611', toRecord(4))
  expect(await insertRecords(pool, [toRecord(6), toRecord(7)])).toEqual({ rejected: [] })
  expect(await listRollups()).toEqual(rollups(6, at(7)))
})

test('a transaction that has written to the log stores its usage records first, and they are summed', async () => {
  database = await emptyDatabase()
  const { connection, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0024')
  await migrateDatabase(connection, () => {}, before)
  await createPartitions(pool, ['2026-11-21'])
  const record = JSON.stringify({ ...toRecord(0), ended_at: HOUR })
  const writer = await pool.connect()
  const write = (table: string) =>
    writer.query(`insert into ${table} select * from json_populate_record(null::${table}, $1::json)`, [
      record,
    ])
  await writer.query('begin')
  await write('request_logs')
  const migrating = migrateDatabase(connection, () => {})
  await untilLockWait(pool)
  await write('usage_records')
    .then(() => writer.query('commit'))
    .finally(() => writer.release(true))
  expect((await migrating).at(0)).toMatch(/^0024/)
  expect(await listRollups()).toEqual(rollups(1, at(0)))
})

test('records of a new month are summed, whether they are stored in the table or in the partition', async () => {
  database = await freshDatabase()
  await createPartitions(database.pool, ['2026-11-21'])
  await insertInto('usage_records', toRecord(0))
  await insertInto('usage_records_202611', toRecord(1))
  expect(await listRollups()).toEqual(rollups(2, at(1)))
})

test('costs that add up to more than a column holds are cut, and hold up no record', async () => {
  database = await freshDatabase()
  const most = Number.MAX_SAFE_INTEGER
  const large = Array.from({ length: 1_100 }, (_, ms) => ({ ...toRecord(ms), cost_nano_usd: most }))
  expect(await insertRecords(database.pool, large)).toEqual({ rejected: [] })
  expect(await insertRecords(database.pool, [{ ...toRecord(2_000), cost_nano_usd: most }])).toEqual({
    rejected: [],
  })
  const { rows } = await database.pool.query('select distinct cost_nano_usd::text as cost from meter_rollups')
  expect(rows).toEqual([{ cost: '9223372036854775807' }])
})
