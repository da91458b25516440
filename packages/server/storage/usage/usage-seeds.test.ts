import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openIds } from '../../core/ids.ts'
import type {
  ConcurrencyMeter,
  FixedMeter,
  Meter,
  MeterSubject,
  RollingMeter,
  Seed,
} from '../../core/limits/meter.ts'
import { toMeteredUsage } from '../../core/limits/metered-usage.ts'
import { systemRandom } from '../../core/random.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { MAX_ROLLING_ENTRIES } from '../../core/rolling-resolution.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { measureLongestTick } from '../../testing/harness/longest-tick.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import {
  addEnvironment,
  addKey,
  addProject,
  addTree,
  newId,
  type Tree,
} from '../../testing/harness/storage-rows.ts'
import { listMeterSeeds, openUsageSnapshot } from './usage-seeds.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const DAY_START = Date.parse('2026-11-21T00:00:00Z')
const HOUR_MS = 3_600_000
/** The tokens of a record that requestRecord() makes. */
const TOKENS = 26

/** An id of a request that arrives at this time. */
const idAt = (at: number): string => openIds({ now: () => at }, systemRandom)()

describe.each(listTestServers())('seeds of meters on $label', server => {
  let database: FreshDatabase
  let tree: Tree
  let subject: MeterSubject
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    tree = await addTree(database.db)
    subject = {
      orgId: tree.organization.id,
      projectId: null,
      environmentId: null,
      keyId: null,
      endUserId: null,
      excludesSandbox: false,
    }
  })

  const toBase = (change: Partial<MeterSubject>) => ({
    key: newId(),
    subject: { ...subject, ...change },
    source: { kind: 'quota', id: newId(), scope: 'org', ref: '', code: 'quota_exceeded' } as const,
    limit: 100,
    nominalLimit: 100,
    alertThresholds: [],
    changedAt: 0,
  })
  const toSpan = (change: Partial<FixedMeter> = {}, of: Partial<MeterSubject> = {}): FixedMeter => ({
    ...toBase(of),
    kind: 'fixed',
    series: 's',
    metric: 'requests',
    since: DAY_START,
    end: DAY_START + 24 * HOUR_MS,
    ...change,
  })
  const toRolling = (change: Partial<RollingMeter> = {}): RollingMeter => ({
    ...toBase({}),
    kind: 'rolling',
    metric: 'requests',
    since: 0,
    windowMs: HOUR_MS,
    ...change,
  })
  const insert = async (
    at: number,
    change: Partial<RequestRecord> = {},
    environment = tree.environment,
  ): Promise<RequestRecord> => {
    const record = requestRecord(environment, idAt(at), at, { sandbox: false, ...change })
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
    return record
  }
  const read = (meters: readonly Meter[], without: readonly string[] = []) =>
    listMeterSeeds(database.pool, meters, NOW, without)
  const used = async (...meters: readonly Meter[]): Promise<number[]> =>
    (await read(meters)).map(seed => seed.used)

  test('cuts a sum that a number cannot hold, and reads the seeds of other organizations with it', async () => {
    const max = Number.MAX_SAFE_INTEGER
    for (let each = 0; each < 3; each++) await insert(NOW, { cost_nano_usd: max })
    const other = await addTree(database.db)
    await insert(NOW, { cost_nano_usd: 7 }, other.environment)
    const ofOther = toSpan({ metric: 'nano_usd' }, { orgId: other.organization.id })
    expect(await used(toSpan({ metric: 'nano_usd' }), ofOther)).toEqual([max, 7])
  })

  test('are zero without usage, one for each meter, in their order', async () => {
    const empty = { used: 0, entries: [] }
    expect(await read([toSpan(), toRolling()])).toEqual([empty, empty])
    expect(await read([])).toEqual([])
    await insert(NOW)
    expect(await used(toSpan({ metric: 'tokens' }), toSpan({ since: NOW + 1 }), toSpan())).toEqual([
      TOKENS,
      0,
      1,
    ])
  })

  test('count a calendar window from its start to just before its end', async () => {
    for (const at of [DAY_START - 1, DAY_START, DAY_START + 24 * HOUR_MS - 1, DAY_START + 24 * HOUR_MS]) {
      await insert(at)
    }
    expect(await used(toSpan(), toSpan({ end: null }), toSpan({ since: DAY_START - 1 }))).toEqual([2, 3, 3])
  })

  test('list each request that still counts in a rolling window, oldest first', async () => {
    await insert(NOW - HOUR_MS - 1)
    await insert(NOW - 5)
    await insert(NOW - HOUR_MS)
    const [seed] = await read([toRolling()])
    expect(seed).toEqual({
      used: 2,
      entries: [
        { at: NOW - HOUR_MS, amount: 1 },
        { at: NOW - 5, amount: 1 },
      ],
    })
    expect(await used(toRolling({ since: NOW - 10 }))).toEqual([1])
  })

  test('of a rolling meter with more requests than its counter keeps are merged into the latest of a slot', async () => {
    const record = await insert(NOW - HOUR_MS + 1)
    const count = MAX_ROLLING_ENTRIES + 10
    await database.pool.query(
      `insert into usage_records select (made.u).* from (
        select jsonb_populate_record(u, jsonb_build_object(
          'id', gen_random_uuid(), 'at', u.at + n * interval '100 ms')) as u
        from usage_records u, generate_series(1, ${count - 1}) n where u.id = $1 offset 0) made`,
      [record.id],
    )
    const [seed, few] = await read([toRolling(), toRolling({ since: NOW - 10 * 60_000 })])
    expect(seed?.used).toBe(count)
    // Slots of 180 ms have one or two requests each.
    expect(seed?.entries.length).toBeLessThanOrEqual(MAX_ROLLING_ENTRIES)
    expect(seed?.entries.length).toBeGreaterThan(count / 2)
    expect(seed?.entries.at(-1)?.at).toBe(NOW - HOUR_MS + 1 + (count - 1) * 100)
    const ats = seed?.entries.map(({ at }) => at) ?? []
    expect(ats).toEqual(ats.toSorted((a, b) => a - b))
    expect(few?.entries.every(({ amount }) => amount === 1)).toBe(true)
  })

  test('of a snapshot leave out what is stored after it was opened', async () => {
    await insert(NOW)
    const snapshot = await openUsageSnapshot(database.pool)
    await insert(NOW)
    const seeds = await snapshot.listSeeds([toSpan()], NOW, [])
    await snapshot.close()
    expect(seeds.map(seed => seed.used)).toEqual([1])
    expect(await used(toSpan())).toEqual([2])
  })

  test('of a snapshot are read by several statements, which have the time of one, and in short ticks', async () => {
    const [record] = [await insert(NOW - HOUR_MS + 1), await insert(NOW)]
    await database.pool.query(
      `insert into usage_records select (made.u).* from (
        select jsonb_populate_record(u, jsonb_build_object(
          'id', gen_random_uuid(), 'at', u.at + n * interval '100 ms')) as u
        from usage_records u, generate_series(1, 5000) n where u.id = $1 offset 0) made`,
      [record.id],
    )
    const meters = [toSpan(), ...Array.from({ length: 50 }, () => toRolling()), toSpan({ since: NOW })]
    const client = await database.pool.connect()
    const asked = vi.spyOn(client, 'query')
    const snapshot = await openUsageSnapshot({ connect: () => Promise.resolve(client) })
    let seeds: Seed[] = []
    const longestMs = await measureLongestTick(
      async () => (seeds = await snapshot.listSeeds(meters, NOW, [])),
    )
    const queries = asked.mock.calls.map(([query]) => query as unknown)
    asked.mockRestore()
    await snapshot.close()
    expect(seeds.map(({ used }) => used)).toEqual([...Array.from({ length: 51 }, () => 5_002), 1])
    expect(queries.filter(query => typeof query === 'object')).toHaveLength(4)
    const timeouts = queries.flatMap(query => /timeout = (\d+)/.exec(String(query))?.[1] ?? []).map(Number)
    expect(timeouts).toHaveLength(4)
    expect(timeouts).toEqual(timeouts.toSorted((a, b) => b - a))
    expect(longestMs).toBeLessThan(50)
  })

  test('of a snapshot are read by statements of at most 500 meters, so that the text of none is long', async () => {
    await insert(NOW)
    const client = await database.pool.connect()
    const asked = vi.spyOn(client, 'query')
    const snapshot = await openUsageSnapshot({ connect: () => Promise.resolve(client) })
    const meters = Array.from({ length: 1_001 }, (_, index) =>
      index === 600 ? toRolling() : toSpan({ since: DAY_START + index }),
    )
    const seeds = await snapshot.listSeeds(meters, NOW, [])
    const sizes = asked.mock.calls.flatMap(([query]: readonly unknown[]) => {
      const { values } = query as { values?: readonly string[] }
      return values === undefined ? [] : [String(values[0]).length]
    })
    asked.mockRestore()
    await snapshot.close()
    expect(seeds.map(({ used }) => used)).toEqual(meters.map(() => 1))
    expect(sizes).toHaveLength(3)
    expect(Math.max(...sizes)).toBeLessThan(500 * 1_000)
  })

  test('of a snapshot that take longer than its timeout fail, and its connection is used again', async () => {
    const lock = await database.pool.connect()
    await lock.query('begin; lock table usage_records in access exclusive mode')
    const snapshot = await openUsageSnapshot(database.pool, 50)
    await expect(snapshot.listSeeds([toSpan()], NOW, [])).rejects.toMatchObject({ code: '57014' })
    await snapshot.close()
    await lock.query('rollback')
    lock.release()
    expect(await used(toSpan())).toEqual([0])
  })

  test('are zero for a concurrency meter: no stored request is running', async () => {
    const meter: ConcurrencyMeter = { ...toBase({}), kind: 'concurrency', metric: 'in_flight', since: 0 }
    await insert(NOW)
    expect(await read([meter])).toEqual([{ used: 0, entries: [] }])
  })

  test('count a request as its record says: the same amounts that the ledger settles', async () => {
    const records = [
      await insert(NOW, { status: 200 }),
      await insert(NOW, { status: 429, ...NO_TOKENS, cost_nano_usd: 0 }),
      await insert(NOW, { status: 500, ...NO_TOKENS, cost_nano_usd: 0 }),
      await insert(NOW, { status: 502, output_tokens: 9 }),
      await insert(NOW, { status: 200, cost_nano_usd: null }),
      await insert(NOW, { status: 499, ...NO_TOKENS, cost_nano_usd: 5 }),
    ].map(toMeteredUsage)
    const sum = (pick: (each: ReturnType<typeof toMeteredUsage>) => number): number =>
      records.reduce((total, each) => total + pick(each), 0)
    expect(await used(toSpan(), toSpan({ metric: 'tokens' }), toSpan({ metric: 'nano_usd' }))).toEqual([
      sum(each => each.requests),
      sum(each => each.tokens),
      sum(each => each.nanoUsd),
    ])
  })

  test('include for a rate the requests that failed at a provider, but not those that were refused', async () => {
    await insert(NOW, { status: 503, ...NO_TOKENS })
    await insert(NOW, { status: 429, ...NO_TOKENS })
    expect(await used(toRolling(), toSpan())).toEqual([1, 0])
  })

  test('leave sandbox requests out of meters that count real money only', async () => {
    await insert(NOW, { sandbox: true })
    await insert(NOW)
    expect(await used(toSpan({}, { excludesSandbox: true }), toSpan())).toEqual([1, 2])
  })

  test('leave out the requests that the caller names', async () => {
    const [first, second] = [await insert(NOW), await insert(NOW)]
    const [seed] = await read([toSpan()], [first.id])
    expect(seed?.used).toBe(1)
    expect((await read([toSpan()], [first.id, second.id, newId()]))[0]?.used).toBe(0)
  })

  test('count the requests of their subject only', async () => {
    const production = await addEnvironment(database.db, tree.project, { name: 'production' })
    const project = await addProject(database.db, tree.organization)
    const elsewhere = await addEnvironment(database.db, project)
    const stranger = await addTree(database.db)
    const keyId = (await addKey(database.db, tree.environment)).id
    const other = (await addKey(database.db, tree.environment)).id
    await insert(NOW, { key_id: keyId, end_user_id: 'alice' })
    await insert(NOW, { key_id: other, end_user_id: 'bob' })
    await insert(NOW, { key_id: keyId, end_user_id: 'alice' }, production)
    await insert(NOW, {}, elsewhere)
    await insert(NOW, { end_user_id: 'alice' }, stranger.environment)
    const { project: own, environment } = tree
    const inEnvironment = { projectId: own.id, environmentId: environment.id }
    expect(
      await used(
        toSpan(),
        toSpan({}, { projectId: own.id }),
        toSpan({}, inEnvironment),
        toSpan({}, { ...inEnvironment, keyId }),
        toSpan({}, { ...inEnvironment, endUserId: 'alice' }),
        toSpan({}, { ...inEnvironment, endUserId: 'carol' }),
      ),
    ).toEqual([4, 3, 2, 2, 1, 0])
  })

  test('count the requests of all keys that replaced one another', async () => {
    const { environment } = tree
    const first = await addKey(database.db, environment)
    const second = await addKey(database.db, environment, { original_id: first.id })
    const third = await addKey(database.db, environment, { original_id: first.id })
    for (const { id } of [first, second, second, third]) await insert(NOW, { key_id: id })
    expect(await used(toSpan({}, { keyId: first.id }), toSpan({}, { keyId: third.id }))).toEqual([4, 0])
  })

  test('stay with the organization of the key, whatever other organization names it', async () => {
    const { id: keyId } = await addKey(database.db, tree.environment)
    await insert(NOW, { key_id: keyId })
    const stranger = await addTree(database.db)
    expect(await used(toSpan({}, { keyId }), toSpan({}, { orgId: stranger.organization.id, keyId }))).toEqual(
      [1, 0],
    )
  })
})

const NO_TOKENS = {
  uncached_input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
}
