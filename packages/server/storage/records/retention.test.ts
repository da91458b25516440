import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { toLineWithRecord } from '../../core/records/record-line.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import type { EnvironmentRow } from '../schema.ts'
import { insertRequestRecords } from './request-logs.ts'
import { applyRetention } from './retention.ts'

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
  /** A request of this age in days. */
  const toRecord = (seeded: SeededEnvironment, age: number): RequestRecord => {
    const { environmentId: id, orgId: org_id, projectId: project_id } = seeded
    return requestRecord({ id, org_id, project_id } as EnvironmentRow, newId(), NOW.getTime() - age * DAY_MS)
  }
  /** Inserts a request of each age in days. */
  const insert = async (seeded: SeededEnvironment, ...ages: number[]): Promise<void> => {
    await insertRecords(
      database.pool,
      ages.map(age => toRecord(seeded, age)),
    )
  }
  /** Ages in days of the rows that are left, newest first. */
  const kept = async (seeded: SeededEnvironment): Promise<number[]> => {
    const { rows } = await database.pool.query<{ at: Date }>(
      'select at from request_logs where environment_id = $1 order by at desc',
      [seeded.environmentId],
    )
    return rows.map(row => (NOW.getTime() - row.at.getTime()) / DAY_MS)
  }

  test('drops the partitions of days that are too old for every environment, and keeps usage', async () => {
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

  test('deletes rows of an environment with a shorter retention, exactly at its age, and no others', async () => {
    const short = await seed(7)
    const long = await seed(90)
    await insert(short, 1, 6.9, 7, 7.1, 30, 89)
    await insert(long, 1, 7.1, 30, 89, 89.9)
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 3 })
    expect(await kept(short)).toEqual([1, 6.9, 7])
    expect(await kept(long)).toEqual([1, 7.1, 30, 89, 89.9])
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 0 })
  })

  test('deletes more rows than a batch holds in one run', async () => {
    const short = await seed(1)
    await seed(90)
    await insert(short, 0.5, ...Array.from({ length: 5_002 }, (_, index) => 3 + index / 1e6))
    expect((await applyRetention(database.pool, NOW))?.deletedRows).toBe(5_002)
    expect(await kept(short)).toEqual([0.5])
  })

  describe.each(['organization', 'project'] as const)('of a deleted %s', kind => {
    const remove = async ({ orgId, projectId }: SeededEnvironment): Promise<void> => {
      const [table, id] = kind === 'organization' ? ['organizations', orgId] : ['projects', projectId]
      await database.pool.query(`update ${table} set deleted_at = now() where id = $1`, [id])
    }

    test('rows go with their day if they would be kept longer than all others', async () => {
      const gone = await seed(365)
      const living = await seed(30)
      await insert(gone, 10, 50)
      await insert(living, 10)
      await remove(gone)
      expect(await applyRetention(database.pool, NOW)).toEqual({
        droppedPartitions: ['request_logs_20261002'],
        deletedRows: 0,
      })
      expect([await kept(gone), await kept(living)]).toEqual([[10], [10]])
    })

    test('rows are deleted at their age if that is less than what all others are kept', async () => {
      const gone = await seed(1)
      const living = await seed(30)
      await insert(gone, 0.9, 1.1, 5, 29)
      await insert(living, 0.9, 1.1, 5, 29)
      await remove(gone)
      expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 3 })
      expect([await kept(gone), await kept(living)]).toEqual([[0.9], [0.9, 1.1, 5, 29]])
    })

    test.each([1, 365])('days are dropped once they end if nothing else is left, at %i days', async days => {
      const gone = await seed(days)
      await insert(gone, 0, 0.4, 0.6, 40)
      await remove(gone)
      expect(await applyRetention(database.pool, NOW)).toEqual({
        droppedPartitions: ['request_logs_20261012', 'request_logs_20261120'],
        deletedRows: 0,
      })
      expect(await kept(gone)).toEqual([0, 0.4])
      const midnight = new Date('2026-11-22T00:00:00Z')
      expect((await applyRetention(database.pool, midnight))?.droppedPartitions).toEqual([
        'request_logs_20261121',
      ])
    })
  })

  test('does nothing while another process has the lock', async () => {
    await insert(await seed(30), 100)
    const other = await database.pool.connect()
    await other.query(`select pg_advisory_lock(hashtextextended('rideau.retention', 0))`)
    expect(await applyRetention(database.pool, NOW)).toBeUndefined()
    await other.query(`select pg_advisory_unlock(hashtextextended('rideau.retention', 0))`)
    other.release()
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
  })

  test('keeps a partition that is being read, and drops it in the next run', async () => {
    await insert(await seed(30), 100)
    const reader = await database.pool.connect()
    await reader.query('begin')
    await reader.query('select count(*) from request_logs')
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toEqual([])
    await reader.query('rollback')
    reader.release()
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
  })

  test('a record whose day is dropped right before it is stored is stored, and its usage counts', async () => {
    const seeded = await seed(30)
    await insert(seeded, 100)
    const locker = await database.pool.connect()
    await locker.query('begin')
    // The usage records are looked up once the partitions are made.
    await locker.query('lock table usage_records in access exclusive mode')
    const line = toLineWithRecord(toRecord(seeded, 100))
    const inserting = insertRequestRecords(database.pool, [line])
    await untilLockWait(database.pool)
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
    await locker.query('rollback')
    locker.release()
    expect(await inserting).toEqual({ rejected: [] })
    expect(await kept(seeded)).toEqual([100])
    const { rows } = await database.pool.query(
      `select sum(requests) as requests from usage_rollups where span = 'day'`,
    )
    expect(rows).toEqual([{ requests: 2 }])
  })

  test('keeps a partition until its last millisecond is too old', async () => {
    const environment = await seed(30)
    await insert(environment, 40)
    const end = Date.parse('2026-10-13T00:00:00Z') + 30 * DAY_MS
    const applyAt = async (ms: number) =>
      (await applyRetention(database.pool, new Date(ms)))?.droppedPartitions
    expect(await applyAt(end - 1)).toEqual([])
    expect(await applyAt(end)).toEqual(['request_logs_20261012'])
  })

  test('deletes a row exactly when its age exceeds the retention', async () => {
    const short = await seed(7)
    await seed(365)
    await insert(short, 7)
    const applyAt = async (ms: number) => (await applyRetention(database.pool, new Date(ms)))?.deletedRows
    expect(await applyAt(NOW.getTime())).toBe(0)
    expect(await applyAt(NOW.getTime() + 1)).toBe(1)
  })

  test('follows a change of the retention in the next run', async () => {
    const environment = await seed(365)
    await insert(environment, 1, 50, 200)
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 0 })
    await database.pool.query('update environments set log_retention_days = 100')
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
    expect(await kept(environment)).toEqual([1, 50])
  })

  test('ignores a partition with a name of another form, and rows of environments that do not exist', async () => {
    const short = await seed(1)
    await seed(365)
    const stranger = { orgId: newId(), projectId: newId(), environmentId: newId() }
    await insert(short, 5)
    await insert(stranger, 5)
    await database.pool.query(
      `create table request_logs_manual partition of request_logs for values from ('2020-01-01') to ('2020-01-02')`,
    )
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 1 })
    expect([await kept(short), await kept(stranger)]).toEqual([[], [5]])
  })

  test('stops before the next partition when it is aborted, and continues in the next run', async () => {
    await insert(await seed(30), 100, 101, 102)
    const aborted = await applyRetention(database.pool, NOW, AbortSignal.abort())
    expect(aborted).toEqual({ droppedPartitions: [], deletedRows: 0 })
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(3)
  })

  test('releases its lock when it fails', async () => {
    await insert(await seed(30), 100)
    await database.pool.query('alter function drop_log_partition(text) rename to drop_log_partition_gone')
    await expect(applyRetention(database.pool, NOW)).rejects.toThrow('drop_log_partition')
    await database.pool.query('alter function drop_log_partition_gone(text) rename to drop_log_partition')
    expect((await applyRetention(database.pool, NOW))?.droppedPartitions).toHaveLength(1)
  })

  test('removes nothing if there is no environment', async () => {
    const seeded = { orgId: newId(), projectId: newId(), environmentId: newId() }
    await insert(seeded, 500)
    expect(await applyRetention(database.pool, NOW)).toEqual({ droppedPartitions: [], deletedRows: 0 })
  })
})
