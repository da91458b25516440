import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import { createPartitions } from '../records/partitions.ts'
import { listRequestLogs } from '../records/request-log-list.ts'
import type { EnvironmentRow } from '../schema.ts'
import { MIGRATIONS } from './index.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const AT = Date.parse('2026-11-21T12:00:00Z')

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

/** Stores a record as the version before this migration did, rollups aside. */
async function insertBefore(
  { pool }: FreshDatabase,
  record: ReturnType<typeof requestRecord>,
): Promise<void> {
  await createPartitions(pool, [record.at.slice(0, 10)])
  const json = JSON.stringify({ ...record, ended_at: new Date(AT + record.total_ms).toISOString() })
  for (const table of ['request_logs', 'usage_records']) {
    await pool.query(`insert into ${table} select * from json_populate_record(null::${table}, $1::json)`, [
      json,
    ])
  }
}

test('rows from before stay, and a replay neither stores nor counts them again', async () => {
  database = await emptyDatabase()
  const { connection, pool, db } = database
  await migrateDatabase(
    connection,
    () => {},
    MIGRATIONS.filter(({ name }) => name < '0013'),
  )
  const [first, second] = [0, 1].map(ms => requestRecord(ENVIRONMENT, newId(), AT + ms)) as [
    ReturnType<typeof requestRecord>,
    ReturnType<typeof requestRecord>,
  ]
  await insertBefore(database, first)
  expect(await migrateDatabase(connection, () => {})).toContain('0013-rows')
  expect(await insertRecords(pool, [first, second])).toEqual({ rejected: [] })

  const rows = await listRequestLogs(db, ENVIRONMENT.id, {}, { limit: 10, after: undefined })
  expect(rows.map(({ id }) => id)).toEqual([second.id, first.id])
  const indexes = await pool.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where tablename = 'request_logs_20261121'`,
  )
  const definitions = indexes.rows.map(({ indexdef }) => indexdef)
  expect(definitions.filter(each => each.includes('UNIQUE'))).toEqual([])
  const counted = await pool.query(`select requests from usage_rollups where span = 'day'`)
  expect(counted.rows).toEqual([{ requests: 1 }])
})
