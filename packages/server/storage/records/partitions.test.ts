import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { openPool } from '../pool.ts'
import type { EnvironmentRow } from '../schema.ts'
import { createPartitions } from './partitions.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow

describe.each(listTestServers())('partitions on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())
  afterEach(async () => {
    for (const name of await list()) await database.pool.query(`drop table ${name}`)
  })

  const list = async (): Promise<string[]> => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select c.relname as name from pg_inherits join pg_class c on c.oid = inhrelid
        where c.relkind = 'r' order by 1`,
    )
    return rows.map(row => row.name)
  }
  const create = (...days: string[]): Promise<void> => createPartitions(database.pool, days)
  const insertAt = async (...times: string[]): Promise<void> => {
    const records = times.map(at => requestRecord(ENVIRONMENT, newId(), Date.parse(at)))
    expect(await insertRecords(database.pool, records)).toEqual({ rejected: [] })
  }
  /** The times of a partition's rows. */
  const timesIn = async (partition: string): Promise<string[]> => {
    const { rows } = await database.pool.query<{ at: Date }>(`select at from ${partition} order by at`)
    return rows.map(row => row.at.toISOString())
  }

  test('are a day each for the request log and a month each for usage records', async () => {
    await create('2026-11-21', '2026-11-22', '2026-12-01')
    expect(await list()).toEqual([
      'request_logs_20261121',
      'request_logs_20261122',
      'request_logs_20261201',
      'usage_records_202611',
      'usage_records_202612',
    ])
  })

  test.each([
    ['the end of a leap February', '2028-02-29', '2028-03-01', '202802', '202803'],
    ['the end of a February without a leap day', '2027-02-28', '2027-03-01', '202702', '202703'],
    ['the end of a year', '2026-12-31', '2027-01-01', '202612', '202701'],
    ['the change to summer time', '2026-03-29', '2026-03-30', '202603', '202603'],
  ])('divide exactly at midnight UTC at %s', async (_, day, next, month, nextMonth) => {
    const [last, first] = [`${day}T23:59:59.999Z`, `${next}T00:00:00.000Z`]
    await insertAt(last, first)
    expect(await timesIn(`request_logs_${day.replaceAll('-', '')}`)).toEqual([last])
    expect(await timesIn(`request_logs_${next.replaceAll('-', '')}`)).toEqual([first])
    expect(await timesIn(`usage_records_${month}`)).toContain(last)
    expect(await timesIn(`usage_records_${nextMonth}`)).toContain(first)
  })

  test('are the same in a session of another time zone', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1 })
    pool.options.onConnect = async client => void (await client.query(`set time zone 'America/Los_Angeles'`))
    try {
      await createPartitions(pool, ['2026-11-01'])
    } finally {
      await pool.end()
    }
    await insertAt('2026-11-01T00:00:00.000Z', '2026-11-01T23:59:59.999Z')
    expect(await timesIn('request_logs_20261101')).toHaveLength(2)
    expect(await list()).toEqual(['request_logs_20261101', 'usage_records_202611'])
  })

  test('are created once by concurrent callers, who all succeed', async () => {
    const days = ['2026-11-21', '2026-11-22', '2026-11-23']
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => create(...(n % 2 === 0 ? days : [...days].reverse()))),
    )
    expect(await list()).toHaveLength(4)
  })

  test('are left alone if they exist', async () => {
    await insertAt('2026-11-21T10:00:00.000Z')
    await create('2026-11-21', '2026-11-21')
    expect(await timesIn('request_logs_20261121')).toEqual(['2026-11-21T10:00:00.000Z'])
  })

  test('are none for no day', async () => {
    await create()
    expect(await list()).toEqual([])
  })

  test('do not block a reader of their parent while they are created', async () => {
    await create('2026-11-21')
    const reader = await database.pool.connect()
    try {
      await reader.query('begin')
      await reader.query('select count(*) from request_logs')
      await create('2026-11-22')
      expect(await list()).toContain('request_logs_20261122')
      await reader.query('commit')
    } finally {
      reader.release()
    }
  })

  test('have the constraints and indexes of their parent', async () => {
    await create('2026-11-21')
    const count = async (table: string): Promise<number> => {
      const { rows } = await database.pool.query<{ count: number }>(
        'select count(*)::integer as count from pg_index where indrelid = $1::regclass',
        [table],
      )
      return rows[0]?.count ?? 0
    }
    expect(await count('request_logs_20261121')).toBe(await count('request_logs'))
    expect(await count('usage_records_202611')).toBe(await count('usage_records'))
  })
})
