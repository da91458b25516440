import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../core/chance.ts'
import { openIds } from '../core/ids.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../testing/harness/database.ts'
import { insertRecords } from '../testing/harness/insert-records.ts'
import { requestRecord } from '../testing/harness/request-record.ts'
import { type SeededEnvironment, seedEnvironment } from '../testing/harness/seed-environment.ts'
import { applyRetention } from './retention.ts'
import type { EnvironmentRow } from './schema.ts'

const newId = openIds(systemClock, systemRandom)
const NOW = new Date('2026-11-21T12:00:00Z')
const DAY_MS = 86_400_000

describe.each(listTestServers())('retention on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  const seed = async (days: number): Promise<SeededEnvironment> => {
    const seeded = await seedEnvironment(database.pool)
    await database.pool.query('update environments set log_retention_days = $2 where id = $1', [
      seeded.environmentId,
      days,
    ])
    return seeded
  }
  /** A request of each age in days. */
  const insert = async (seeded: SeededEnvironment, ...ages: number[]): Promise<void> => {
    const environment = {
      id: seeded.environmentId,
      org_id: seeded.orgId,
      project_id: seeded.projectId,
    } as EnvironmentRow
    const records = ages.map(age => requestRecord(environment, newId(), NOW.getTime() - age * DAY_MS))
    await insertRecords(database.pool, records)
  }
  /** Ages in days of what the log still holds. */
  const kept = async (seeded: SeededEnvironment): Promise<number[]> => {
    const { rows } = await database.pool.query<{ at: Date }>(
      'select at from request_logs where environment_id = $1 order by at desc',
      [seeded.environmentId],
    )
    return rows.map(row => (NOW.getTime() - row.at.getTime()) / DAY_MS)
  }

  test('days too old for every environment go as partitions, and usage stays', async () => {
    const a = await seed(30)
    await insert(a, 0, 29.9, 31.6, 40, 400)
    expect(await applyRetention(database.pool, NOW)).toEqual({
      droppedPartitions: ['request_logs_20251017', 'request_logs_20261012', 'request_logs_20261020'],
      deletedRows: 0,
    })
    expect(await kept(a)).toEqual([0, 29.9])
    const { rows } = await database.pool.query(
      `select (select count(*) from usage_records) as records,
        (select sum(requests) from usage_rollups where span = 'day') as rolled`,
    )
    expect(rows).toEqual([{ records: 5, rolled: 5 }])
  })

  test('an environment that keeps less loses its own rows only, to the moment', async () => {
    const short = await seed(7)
    const long = await seed(90)
    await insert(short, 1, 6.9, 7, 7.1, 30, 89)
    await insert(long, 1, 7.1, 30, 89, 89.9)
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 3 })
    expect(await kept(short)).toEqual([1, 6.9, 7])
    expect(await kept(long)).toEqual([1, 7.1, 30, 89, 89.9])
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 0 })
  })

  test('more rows than one batch holds go in one run', async () => {
    const short = await seed(1)
    await seed(90)
    await insert(short, 0.5, ...Array.from({ length: 5_002 }, (_, index) => 3 + index / 1e6))
    expect((await applyRetention(database.pool, NOW))?.deletedRows).toBe(5_002)
    expect(await kept(short)).toEqual([0.5])
  })

  test('a deleted organization keeps no day alive', async () => {
    const gone = await seed(365)
    const living = await seed(30)
    await insert(gone, 50)
    await insert(living, 10)
    await database.pool.query('update organizations set deleted_at = now() where id = $1', [gone.orgId])
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toEqual(['request_logs_20261002'])
  })

  test('one process at a time; another one leaves it alone', async () => {
    await insert(await seed(30), 100)
    const other = await database.pool.connect()
    await other.query(`select pg_advisory_lock(hashtextextended('rideau.retention', 0))`)
    expect(await applyRetention(database.pool, NOW)).toBeUndefined()
    await other.query(`select pg_advisory_unlock(hashtextextended('rideau.retention', 0))`)
    other.release()
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
  })

  test('a day that somebody reads stays until the next run', async () => {
    await insert(await seed(30), 100)
    const reader = await database.pool.connect()
    await reader.query('begin')
    await reader.query('select count(*) from request_logs')
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toEqual([])
    await reader.query('rollback')
    reader.release()
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
  })

  test('without any environment nothing is touched', async () => {
    const seeded = { orgId: newId(), projectId: newId(), environmentId: newId() }
    await insert(seeded, 500)
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 0 })
  })
})
