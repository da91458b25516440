import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { addTree, newId } from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import { findRequestLog } from '../records/request-log-list.ts'
import { turnsAndBatches } from './0025-turns-and-batches.ts'
import { MIGRATIONS } from './index.ts'

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

test('requests from before are found by their id, and the migration may run again', async () => {
  database = await emptyDatabase()
  const { connection, db, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0025')
  await migrateDatabase(connection, () => {}, before)
  const { organization, environment } = await addTree(db)
  const record = requestRecord(environment, newId(), Date.parse('2026-11-21T12:00:00Z'))
  expect(await insertRecords(pool, [record])).toEqual({ rejected: [] })
  await migrateDatabase(connection, () => {})
  await pool.query(turnsAndBatches)
  expect(await findRequestLog(db, record.request_id, [organization.id])).toMatchObject({ id: record.id })
})
