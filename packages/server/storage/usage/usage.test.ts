import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { EnvironmentRow } from '../schema.ts'
import { listUsage, parseCounts, type UsageRow } from './usage.ts'
import type { UsageFilter } from './usage-filter.ts'

const newId = openIds(systemClock, systemRandom)
const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const FIRST_PAGE = { limit: 100, after: undefined }

function recordAt(at: string, change: Partial<RequestRecord> = {}): RequestRecord {
  return requestRecord(ENVIRONMENT, newId(), Date.parse(at), { sandbox: false, ...change })
}

describe.each(listTestServers())('usage on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  const insert = async (...records: RequestRecord[]): Promise<void> => {
    expect(await insertRecords(database.pool, records)).toEqual({ rejected: [] })
  }
  const list = async (change: Partial<UsageFilter> = {}, page = FIRST_PAGE): Promise<UsageRow[]> =>
    await listUsage(
      database.db,
      {
        orgId: ENVIRONMENT.org_id,
        from: new Date('2026-01-01T00:00:00Z'),
        to: new Date('2027-01-01T00:00:00Z'),
        granularity: 'day',
        groups: [],
        ...change,
      },
      page,
    )
  const total = async (): Promise<number> => (await list()).reduce((sum, row) => sum + row.requests, 0)

  test('stores records whose costs add up to more than a column holds', async () => {
    const cost_nano_usd = Number.MAX_SAFE_INTEGER
    for (let batch = 0; batch < 3; batch++) {
      await insert(...Array.from({ length: 400 }, () => recordAt('2026-11-21T10:00:00Z', { cost_nano_usd })))
    }
    expect(await list()).toMatchObject([{ requests: 1200, costNanoUsd: 2 ** 63 }])
  })

  test('sums the stored records', async () => {
    await insert(
      recordAt('2026-11-21T10:00:00Z', { total_ms: 100 }),
      recordAt('2026-11-21T10:14:59.999Z', { status: 429, cost_nano_usd: 0, total_ms: 1 }),
      recordAt('2026-11-21T23:00:00Z', { cost_nano_usd: null, total_ms: 900_000 }),
    )
    const [row, ...others] = await list()
    expect(others).toEqual([])
    expect(row).toMatchObject({
      bucket: new Date('2026-11-21T00:00:00Z'),
      groups: {},
      sandbox: false,
      requests: 3,
      errors: 1,
      unpriced: 1,
      inputTokens: 48,
      outputTokens: 30,
      cachedTokens: 12,
      costNanoUsd: 1_234_567,
    })
    const counted = parseCounts(row?.latencies ?? '').flatMap((count, slot) =>
      count === 0 ? [] : [[slot, count]],
    )
    expect(counted).toEqual([
      [0, 1],
      [10, 1],
      [47, 1],
    ])
  })

  test('counts a record once: within a batch, across batches, and after its log row was dropped', async () => {
    const records = [1, 2, 3].map(() => recordAt('2026-11-21T10:00:00Z'))
    await insert(...records, ...records)
    await insert(...records)
    await database.pool.query('drop table request_logs_20261121')
    await insert(...records)
    expect(await total()).toBe(3)
  })

  test('does not count a rejected record, and counts the rest of its batch', async () => {
    const refused = recordAt('2026-11-21T10:00:00Z', { request_id: 'no-uuid' })
    const { rejected } = await insertRecords(database.pool, [
      recordAt('2026-11-21T10:00:00Z'),
      refused,
      recordAt('2026-11-21T10:00:00Z'),
    ])
    expect(rejected).toHaveLength(1)
    expect(await total()).toBe(2)
  })

  test('concurrent writers of the same rollups lose no count and do not deadlock', async () => {
    const batch = () =>
      Array.from({ length: 60 }, (_, index) =>
        recordAt('2026-11-21T10:00:00Z', { model: `m${index % 20}`, end_user_id: `u${(index * 7) % 30}` }),
      )
    const batches = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? batch() : batch().reverse()))
    await Promise.all(batches.map(records => insertRecords(database.pool, records)))
    expect(await total()).toBe(720)
    const users = await list({ groups: ['end_user_id'] })
    expect(users.map(row => row.requests)).toEqual(Array.from({ length: 30 }, () => 24))
  })

  test('groups by the requested columns, with a group for absent values', async () => {
    const key = newId()
    await insert(
      recordAt('2026-11-21T10:00:00Z', { provider: 'openai', model: 'a', key_id: key, end_user_id: 'u' }),
      recordAt('2026-11-21T11:00:00Z', { provider: 'azure', model: 'a', key_id: key }),
      recordAt('2026-11-21T12:00:00Z', { provider: null, model: null, sandbox: true }),
    )
    const groups = async (...asked: UsageFilter['groups']) =>
      (await list({ groups: asked }))
        .map(row => [...Object.values(row.groups), row.sandbox, row.requests])
        .sort()
    expect(await groups('model')).toEqual([
      [null, true, 1],
      ['a', false, 2],
    ])
    expect(await groups('provider', 'model')).toEqual([
      [null, null, true, 1],
      ['azure', 'a', false, 1],
      ['openai', 'a', false, 1],
    ])
    expect(await groups('key_id')).toEqual([
      [null, true, 1],
      [key, false, 2],
    ])
    expect(await groups('end_user_id', 'environment_id')).toEqual([
      [null, ENVIRONMENT.id, false, 1],
      [null, ENVIRONMENT.id, true, 1],
      ['u', ENVIRONMENT.id, false, 1],
    ])
  })

  test.each([
    ['UTC', ['2026-11-21T00:00:00.000Z', '2026-11-20T00:00:00.000Z']],
    ['Asia/Kolkata', ['2026-11-20T18:30:00.000Z', '2026-11-19T18:30:00.000Z']],
    ['Asia/Kathmandu', ['2026-11-20T18:15:00.000Z']],
    ['America/New_York', ['2026-11-20T05:00:00.000Z']],
  ])('days begin at midnight in %s', async (timeZone, expected) => {
    await database.pool.query(
      `insert into organizations (id, name, slug, time_zone, created_at, updated_at) values ($1, 'a', 'a', $2, now(), now())`,
      [ENVIRONMENT.org_id, timeZone],
    )
    await insert(recordAt('2026-11-20T18:29:59.999Z'), recordAt('2026-11-21T01:00:00Z'))
    expect((await list()).map(row => row.bucket.toISOString())).toEqual(expected)
  })

  test('hours begin at UTC hours, and from and to select whole buckets', async () => {
    await insert(
      recordAt('2026-11-21T10:59:59Z'),
      recordAt('2026-11-21T11:00:00Z'),
      recordAt('2026-11-21T12:00:00Z'),
    )
    const rows = await list({
      granularity: 'hour',
      from: new Date('2026-11-21T10:59:59Z'),
      to: new Date('2026-11-21T12:00:00Z'),
    })
    expect(rows.map(row => row.bucket.toISOString())).toEqual([
      '2026-11-21T11:00:00.000Z',
      '2026-11-21T10:00:00.000Z',
    ])
  })

  test('pages return every row once, also if rows are inserted between them', async () => {
    const models = ['a', 'b', 'c', 'd', 'e']
    for (const day of ['20', '21', '22']) {
      await insert(...models.map(model => recordAt(`2026-11-${day}T10:00:00Z`, { model })))
    }
    const seen: string[] = []
    let after: { at: Date; id: string } | undefined
    for (;;) {
      const rows = await list({ groups: ['model'] }, { limit: 4, after } as never)
      for (const row of rows) seen.push(`${row.bucket.toISOString()} ${row.groups.model}`)
      await insert(recordAt('2026-11-23T10:00:00Z', { model: newId() }))
      const last = rows.at(-1)
      if (last === undefined) break
      after = { at: last.bucket, id: last.id }
    }
    expect(seen).toHaveLength(15)
    expect(new Set(seen).size).toBe(15)
  })

  test('selects one organization, or one project or environment of it', async () => {
    const other = requestRecord(
      { ...ENVIRONMENT, org_id: newId() },
      newId(),
      Date.parse('2026-11-21T10:00:00Z'),
    )
    const sibling = requestRecord(
      { ...ENVIRONMENT, id: newId() },
      newId(),
      Date.parse('2026-11-21T10:00:00Z'),
    )
    await insert(recordAt('2026-11-21T10:00:00Z'), other, sibling)
    expect(await total()).toBe(2)
    expect(await list({ below: { column: 'environment_id', id: ENVIRONMENT.id } })).toMatchObject([
      { requests: 1, sandbox: false },
    ])
    expect(await list({ below: { column: 'project_id', id: newId() } })).toEqual([])
  })
})
