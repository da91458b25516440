import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { untilLockWait } from '../../testing/harness/lock-wait.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { addTree, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import type { RequestLogFilter } from './request-log-filter.ts'
import { findRequestLogPosition, tailRequestLogs } from './request-log-list.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The database's clock gives the order of storage, and records of the tail are not much older. */
const NOW = Date.now()

describe.each(listTestServers())('the live tail on $label', server => {
  let database: FreshDatabase
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(database.db)
  })

  const create = (change: Partial<RequestRecord> = {}, at = NOW): RequestRecord =>
    requestRecord(tree.environment, newId(), at, change)
  const insert = async (change: Partial<RequestRecord> = {}, at = NOW): Promise<RequestRecord> => {
    const record = create(change, at)
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
    return record
  }
  const positionOf = async ({ request_id }: RequestRecord): Promise<{ at: Date; id: string }> =>
    (await findRequestLogPosition(database.db, tree.environment.id, request_id)) as { at: Date; id: string }
  const tail = async (after: { at: Date; id: string }, limit = 100, filter: RequestLogFilter = {}) =>
    await tailRequestLogs(database.db, tree.environment.id, filter, { limit, after })
  const tailAfter = async (record: RequestRecord, filter: RequestLogFilter = {}): Promise<string[]> =>
    (await tail(await positionOf(record), 100, filter)).map(({ id }) => id)

  test('returns requests in the order of their storage, also those that ended long before', async () => {
    const first = await insert()
    const slow = await insert({ total_ms: 2 * HOUR_MS }, NOW - 2 * HOUR_MS)
    // As after an outage of the database, when the journal is written to it.
    const late = await insert({ total_ms: 1 }, NOW - 6 * DAY_MS)
    const last = await insert({}, NOW + HOUR_MS)
    expect(await tailAfter(first)).toEqual([slow.id, late.id, last.id])
    expect(await tailAfter(late)).toEqual([last.id])
    expect(await tailAfter(last)).toEqual([])
    expect(await tailAfter(first, { status: 500 })).toEqual([])
  })

  test('returns each record of a batch once, in pages of any size', async () => {
    const first = await insert()
    const batch = Array.from({ length: 7 }, () => create())
    expect(await insertRecords(database.pool, batch)).toEqual({ rejected: [] })
    const seen: string[] = []
    for (let after = await positionOf(first); ; ) {
      const rows = await tail(after, 2)
      const last = rows.at(-1)
      if (last === undefined) break
      seen.push(...rows.map(({ id }) => id))
      after = { at: last.stored_at, id: last.id }
    }
    expect(seen).toEqual(batch.map(({ id }) => id).sort())
  })

  test('returns a record once its writer has committed, and those of later writers not before it', async () => {
    const [slowKey, fastKey] = [newId(), newId()]
    // Another hour: writers of an environment wait for each other where they add to the same sums.
    const first = await insert({ key_id: slowKey }, NOW - 2 * HOUR_MS)
    const position = await positionOf(first)
    const blocker = await database.pool.connect()
    await blocker.query('begin')
    await blocker.query('select from usage_rollups where key_id = $1 for update', [slowKey])
    const slow = create({ key_id: slowKey }, NOW - 2 * HOUR_MS)
    const storing = insertRecords(database.pool, [slow])
    await untilLockWait(database.pool)
    const fast = await insert({ key_id: fastKey })
    expect(await tail(position)).toEqual([])
    await blocker.query('rollback')
    blocker.release()
    await storing
    expect((await tail(position)).map(({ id }) => id)).toEqual([slow.id, fast.id])
  })

  test('goes on after a request that an earlier version stored', async () => {
    const old = await insert({ total_ms: 5 }, NOW - HOUR_MS)
    await database.pool.query('update request_logs set stored_at = null where id = $1', [old.id])
    const next = await insert()
    expect(await positionOf(old)).toEqual({ at: new Date(NOW - HOUR_MS + 5), id: old.id })
    expect(await tailAfter(old)).toEqual([next.id])
  })

  test('has no position for an unknown request or one of another environment', async () => {
    const { request_id } = await insert()
    expect(await findRequestLogPosition(database.db, tree.environment.id, newId())).toBeUndefined()
    const other = await addTree(database.db)
    expect(await findRequestLogPosition(database.db, other.environment.id, request_id)).toBeUndefined()
  })
})
