import { afterEach, expect, test } from 'vitest'
import { emptyDatabase, type FreshDatabase } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { migrateDatabase } from '../migrate.ts'
import type { EnvironmentRow } from '../schema.ts'
import { MIGRATIONS } from './index.ts'

let database: FreshDatabase | undefined
afterEach(() => database?.drop())

test('an organization in a time zone that PostgreSQL does not know gets one in which its usage is stored', async () => {
  database = await emptyDatabase()
  const { connection, pool } = database
  const before = MIGRATIONS.filter(({ name }) => name < '0018')
  await migrateDatabase(connection, () => {}, before)
  const zones = ['AET', 'cet', 'EET', 'MET', 'WET', 'Asia/Kolkata', 'utc']
  const ids = zones.map(newId)
  await pool.query(
    `insert into organizations (id, name, slug, time_zone, created_at, updated_at)
      select id, zone, id::text, zone, now(), now() from unnest($1::uuid[], $2::text[]) as given (id, zone)`,
    [ids, zones],
  )
  await migrateDatabase(connection, () => {})
  const { rows } = await pool.query<{ time_zone: string }>(
    'select time_zone from organizations order by array_position($1::uuid[], id)',
    [ids],
  )
  const expected = [
    'UTC',
    'Europe/Brussels',
    'Europe/Athens',
    'Europe/Brussels',
    'Europe/Lisbon',
    'Asia/Kolkata',
  ]
  expect(rows.map(({ time_zone }) => time_zone)).toEqual([...expected, 'utc'])
  const environment = { id: newId(), org_id: ids[0], project_id: newId() } as EnvironmentRow
  const record = requestRecord(environment, newId(), Date.parse('2026-11-21T12:00:00Z'))
  expect(await insertRecords(pool, [record])).toEqual({ rejected: [] })
})
