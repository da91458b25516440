import { sql } from 'kysely'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { addEnvironment, addTree, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import type { Page } from '../page.ts'
import { type Db, openDatabase, openPool } from '../pool.ts'
import { removeProject } from '../tenancy/projects.ts'
import { inTenantScope } from '../tenant-scope.ts'
import { createPartitions } from './partitions.ts'
import type { RequestLogFilter } from './request-log-filter.ts'
import { areRequestsLogged, findRequestLog, listRequestLogs, updateFeedback } from './request-log-list.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const DAY_MS = 86_400_000
const FEEDBACK = { score: 1, comment: 'good', tags: ['a'], created_at: '2026-11-21T12:00:00.000Z' }

describe.each(listTestServers())('the request log on $label', server => {
  let database: FreshDatabase
  let db: Db
  let tree: Tree
  beforeAll(async () => {
    database = await freshDatabase(server)
    db = database.db
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(db)
  })

  const insert = async (
    change: Partial<RequestRecord> = {},
    at = NOW,
    environment = tree.environment,
  ): Promise<RequestRecord> => {
    const record = requestRecord(environment, newId(), at, change)
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
    return record
  }
  const list = async (
    filter: RequestLogFilter = {},
    page: Page = { limit: 100, after: undefined },
  ): Promise<string[]> => (await listRequestLogs(db, tree.environment.id, filter, page)).map(({ id }) => id)

  describe('lists', () => {
    test('return the rows of one environment without bodies, newest first', async () => {
      const older = await insert({}, NOW - DAY_MS)
      const newer = await insert({ request_body: 'secret', response_body: 'secret' })
      await insert({}, NOW, await addEnvironment(db, tree.project, { name: 'production' }))
      expect(await list()).toEqual([newer.id, older.id])
      const page = { limit: 1, after: undefined }
      const [row] = await listRequestLogs(db, tree.environment.id, {}, page)
      expect(row).toMatchObject({ id: newer.id, attempts: newer.attempts })
      expect(JSON.stringify(row)).not.toContain('secret')
    })

    test('continue across days, also between requests of the same millisecond', async () => {
      const ids: string[] = []
      for (const at of [NOW, NOW, NOW - DAY_MS, NOW - DAY_MS, NOW - 3 * DAY_MS]) {
        ids.push((await insert({}, at)).id)
      }
      const seen: string[] = []
      let after: Page['after']
      for (;;) {
        const rows = await listRequestLogs(db, tree.environment.id, {}, { limit: 2, after })
        const last = rows.at(-1)
        if (last === undefined) break
        seen.push(...rows.map(({ id }) => id))
        after = { at: last.at, id: last.id }
      }
      expect([...seen].sort()).toEqual([...ids].sort())
    })

    test('filter by each field, and by all that are given', async () => {
      const key_id = newId()
      const match = await insert({
        status: 429,
        error_code: 'rate_limit_exceeded',
        provider: 'openai',
        model: 'openai/gpt-x',
        model_requested: 'fast',
        key_id,
        end_user_id: 'alice',
        metadata: { team: 'blue', tier: '1' },
        cost_nano_usd: 500,
        total_ms: 250,
      })
      await insert({ metadata: { team: 'red' }, cost_nano_usd: null, total_ms: 1 }, NOW - 1)
      const all: RequestLogFilter = {
        status: 429,
        errorCode: 'rate_limit_exceeded',
        provider: 'openai',
        keyId: key_id,
        endUserId: 'alice',
        metadata: { team: 'blue', tier: '1' },
        from: new Date(NOW),
        to: new Date(NOW + 1),
        minCostNanoUsd: 500,
        minLatencyMs: 250,
      }
      expect(await list(all)).toEqual([match.id])
      for (const [name, value] of Object.entries(all))
        expect(await list({ [name]: value })).toContain(match.id)
      const misses: RequestLogFilter[] = [
        { status: 428 },
        { errorCode: 'quota_exceeded' },
        { provider: 'azure' },
        { keyId: newId() },
        { endUserId: 'Alice' },
        { metadata: { team: 'blue', tier: '2' } },
        { metadata: { unknown: '' } },
        { from: new Date(NOW + 1) },
        { to: new Date(NOW), minLatencyMs: 2 },
        { minCostNanoUsd: 501 },
        { minLatencyMs: 251 },
      ]
      for (const filter of misses) expect(await list(filter)).toEqual([])
    })

    test.each(['fast', 'gpt-x', 'openai/gpt-x', 'org/gpt-x', 'custom/org/gpt-x'])(
      'find a model by the name %s',
      async name => {
        const plain = { provider: 'openai', model: 'openai/gpt-x', model_requested: 'fast' }
        const nested = { provider: 'custom', model: 'custom/org/gpt-x', model_requested: null }
        const expected = name.includes('org/') ? await insert(nested) : await insert(plain)
        await insert(name.includes('org/') ? plain : nested, NOW - 1)
        expect(await list({ model: name })).toEqual([expected.id])
      },
    )
  })

  describe('a request', () => {
    test('is found by its X-Request-Id in the given organizations only, the latest first', async () => {
      const stranger = await addTree(db)
      const request_id = newId()
      await insert({ request_id }, NOW - DAY_MS)
      const latest = await insert({ request_id, response_body: 'answer' })
      const theirs = await insert({ request_id }, NOW + 1, stranger.environment)
      const find = async (...orgIds: string[]) => (await findRequestLog(db, request_id, orgIds))?.id
      expect(await find(tree.organization.id)).toBe(latest.id)
      expect(await find(stranger.organization.id)).toBe(theirs.id)
      expect(await find(newId())).toBeUndefined()
      expect((await findRequestLog(db, request_id, [tree.organization.id]))?.response_body).toBe('answer')
      await removeProject(db, tree.project.id, new Date(NOW))
      expect(await find(tree.organization.id)).toBeUndefined()
    })

    test('is known to be logged in its own environment only', async () => {
      const { request_id } = await insert()
      const environmentId = tree.environment.id
      const asked = [
        { environmentId, requestId: request_id.toUpperCase() },
        { environmentId, requestId: newId() },
        { environmentId: (await addTree(db)).environment.id, requestId: request_id },
      ]
      expect(await areRequestsLogged(database.pool, asked)).toEqual([true, false, false])
    })

    test('keeps the latest feedback, and of its own end user only if one is given', async () => {
      const { request_id: requestId } = await insert({ end_user_id: 'alice' })
      const environmentId = tree.environment.id
      const give = (endUserId: string | null, score: -1 | 1, of = { environmentId, requestId }) =>
        updateFeedback(db, { ...of, endUserId }, { ...FEEDBACK, score } as typeof FEEDBACK)
      const read = async () => (await findRequestLog(db, requestId, [tree.organization.id]))?.feedback
      expect(await give('alice', 1)).toBe(true)
      expect(await read()).toEqual(FEEDBACK)
      expect(await give('bob', -1)).toBe(false)
      expect(await read()).toEqual(FEEDBACK)
      expect(await give(null, -1)).toBe(true)
      expect(await read()).toEqual({ ...FEEDBACK, score: -1 })
      expect(await give(null, 1, { environmentId, requestId: newId() })).toBe(false)
      expect(await give(null, 1, { environmentId: newId(), requestId })).toBe(false)
    })

    test('stores feedback with characters that PostgreSQL cannot store as U+FFFD', async () => {
      const { request_id: requestId } = await insert()
      const of = { environmentId: tree.environment.id, requestId, endUserId: null }
      await updateFeedback(db, of, { ...FEEDBACK, comment: 'a\0b\ud800' })
      const found = await findRequestLog(db, requestId, [tree.organization.id])
      expect(found?.feedback).toMatchObject({ comment: 'a\ufffdb\ufffd' })
    })
  })
})

/** Sixty days of an empty log. */
const DAYS = Array.from({ length: 60 }, (_, day) =>
  new Date(NOW - (day + 1) * DAY_MS).toISOString().slice(0, 10),
)

describe.each(listTestServers())('a request among many days on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
    await createPartitions(database.pool, DAYS)
  })
  afterAll(() => database.drop())

  test('is looked for with one index of each day, once a session has the plan', async () => {
    const tree = await addTree(database.db)
    const record = requestRecord(tree.environment, newId(), NOW)
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
    const orgIds = [tree.organization.id]
    const countLocks = (pool: Pool): Promise<number> =>
      inTenantScope(openDatabase(pool), orgIds, async scoped => {
        expect(await findRequestLog(scoped, record.request_id, orgIds)).toMatchObject({ id: record.id })
        const { rows } = await sql`select from pg_locks where pid = pg_backend_pid()`.execute(scoped)
        return rows.length
      })
    const pool = openPool(database.connection, () => {}, { max: 1 })
    try {
      const [first, second] = [await countLocks(pool), await countLocks(pool)]
      expect(first).toBeGreaterThan(10 * DAYS.length)
      expect(second).toBeLessThan(3 * DAYS.length)
    } finally {
      await pool.end()
    }
  })
})
