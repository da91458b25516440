import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openIds } from '../../core/ids.ts'
import type { FixedMeter, MeterSubject } from '../../core/limits/meter.ts'
import { toMeteredUsage } from '../../core/limits/metered-usage.ts'
import { systemRandom } from '../../core/random.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { calendarBoundsAt } from '../../core/tenancy/windows.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { addEnvironment, addKey, addTree, newId, type Tree } from '../../testing/harness/storage-rows.ts'
import { createPartitions } from '../records/partitions.ts'
import type { EnvironmentRow } from '../schema.ts'
import { listMeterSeeds } from './usage-seeds.ts'
import { sumUsage } from './usage-totals.ts'

const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-11-21T12:34:56.789Z')
const DAYS = 60
const COUNT = 1_500

/** The same numbers in every run: from 0 up to, but not including, `below`. */
let state = 1
const pick = (below: number): number => {
  state = (state * 48_271) % 2_147_483_647
  return state % below
}
const pickOf = <Value>(values: readonly Value[]): Value => values[pick(values.length)] as Value
const idAt = (at: number): string => openIds({ now: () => at }, systemRandom)()

describe.each(listTestServers())('usage of long windows on $label', server => {
  let database: FreshDatabase
  let tree: Tree
  let environments: readonly EnvironmentRow[]
  let keys: readonly string[]
  const records: RequestRecord[] = []

  beforeAll(async () => {
    database = await freshDatabase(server)
    tree = await addTree(database.db)
    environments = [tree.environment, await addEnvironment(database.db, tree.project, { name: 'production' })]
    const first = await addKey(database.db, tree.environment)
    const replacement = await addKey(database.db, tree.environment, { original_id: first.id })
    keys = [first.id, replacement.id, (await addKey(database.db, tree.environment)).id]
    const stranger = await addTree(database.db)
    for (let index = 0; index < COUNT; index++) {
      // Full hours and their last milliseconds are frequent.
      const edge = pickOf([0, HOUR_MS - 1, pick(HOUR_MS), pick(HOUR_MS)])
      const at = Math.floor((NOW - pick(DAYS * 24) * HOUR_MS) / HOUR_MS) * HOUR_MS + edge
      const environment = pickOf([...environments, stranger.environment])
      const tokens = pickOf([{}, NO_TOKENS])
      const record = requestRecord(environment, idAt(at), at, {
        ...tokens,
        status: pickOf([200, 200, 200, 429, 499, 502]),
        cost_nano_usd: pickOf([null, 0, pick(1_000_000_000)]),
        key_id: environment === tree.environment ? pickOf([...keys, null]) : null,
        end_user_id: pickOf(['alice', 'bob', `visitor-${index}`, null]),
        sandbox: pick(4) === 0,
      })
      records.push(record)
    }
    await createPartitions(database.pool, ['2026-09-30', '2026-10-31', '2026-11-21'])
    // Without their rows of the log, which would need a partition a day.
    for (let at = 0; at < COUNT; at += 100) {
      await database.pool.query(
        'insert into usage_records select * from json_populate_recordset(null::usage_records, $1::json)',
        [JSON.stringify(records.slice(at, at + 100))],
      )
    }
  })
  afterAll(() => database.drop())

  const subjects = (): MeterSubject[] => {
    const all = {
      orgId: tree.organization.id,
      projectId: null,
      environmentId: null,
      keyId: null,
      endUserId: null,
      excludesSandbox: false,
    }
    const inEnvironment = { ...all, projectId: tree.project.id, environmentId: tree.environment.id }
    return [
      all,
      { ...all, excludesSandbox: true },
      { ...all, projectId: tree.project.id },
      inEnvironment,
      { ...inEnvironment, keyId: keys[0] as string },
      { ...all, keyId: keys[2] as string },
      { ...inEnvironment, endUserId: 'alice' },
      { ...inEnvironment, environmentId: environments[1]?.id ?? '', endUserId: 'alice' },
    ]
  }
  const isOf = (subject: MeterSubject, record: RequestRecord): boolean =>
    record.org_id === subject.orgId &&
    (subject.projectId === null || record.project_id === subject.projectId) &&
    (subject.environmentId === null || record.environment_id === subject.environmentId) &&
    (subject.keyId === null ||
      (subject.keyId === keys[0] ? keys.slice(0, 2) : [subject.keyId]).includes(record.key_id as string)) &&
    (subject.endUserId === null || record.end_user_id === subject.endUserId) &&
    !(subject.excludesSandbox && record.sandbox)
  const isWithin = (since: number, end: number | null, { at }: RequestRecord): boolean =>
    Date.parse(at) >= since && (end === null || Date.parse(at) < end)
  const toMeter = (
    subject: MeterSubject,
    metric: FixedMeter['metric'],
    since: number,
    end: number | null,
  ): FixedMeter => ({
    kind: 'fixed',
    key: newId(),
    series: 's',
    subject,
    source: { kind: 'budget', id: newId(), scope: 'org', ref: '', code: 'budget_exceeded' },
    metric,
    limit: 1,
    nominalLimit: 1,
    alertThresholds: [],
    changedAt: 0,
    since,
    end,
  })
  const windows = (): (readonly [number, number | null])[] => [
    [0, null],
    ...['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Europe/Berlin'].flatMap(zone =>
      (['hour', 'day', 'week', 'month'] as const).map(kind => {
        const { start, end } = calendarBoundsAt(kind, NOW - pick(30 * 24) * HOUR_MS, zone)
        return [start, end] as const
      }),
    ),
    // Those of total budgets.
    ...Array.from({ length: 8 }, () => [NOW - pick(DAYS * 24 * HOUR_MS), null] as const),
  ]

  test.each([0, 1, 400])(
    'seeds of any window and subject are the sum of its records, without those of %s running requests',
    async count => {
      const running = records.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, count)
      const without = [...running.map(({ id }) => id), ...(count === 0 ? [] : [idAt(NOW)])]
      const left = records.filter(record => !running.includes(record))
      const meters = windows().flatMap(([since, end]) =>
        subjects().flatMap(subject =>
          (['requests', 'tokens', 'nano_usd'] as const).map(metric => toMeter(subject, metric, since, end)),
        ),
      )
      const seeds = await listMeterSeeds(database.pool, meters, NOW, without)
      const amountOf = { requests: 'requests', tokens: 'tokens', nano_usd: 'nanoUsd' } as const
      const expected = meters.map(({ subject, metric, since, end }) =>
        left
          .filter(record => isOf(subject, record) && isWithin(since, end, record))
          .reduce((sum, record) => sum + toMeteredUsage(record)[amountOf[metric]], 0),
      )
      expect(seeds.map(({ used }) => used)).toEqual(expected)
    },
  )

  test('totals of any subject are the sum of its records', async () => {
    for (const since of [undefined, NOW - pick(DAYS * 24 * HOUR_MS), NOW - HOUR_MS]) {
      const selectors = subjects().map(subject => ({
        id: newId(),
        org_id: subject.orgId,
        project_id: subject.projectId,
        environment_id: subject.environmentId,
        key_id: subject.keyId,
        end_user_id: subject.endUserId,
        real_only: subject.excludesSandbox,
        ...(since === undefined ? {} : { since: new Date(since) }),
      }))
      const totals = await sumUsage(database.db, selectors)
      const expected = subjects().map(subject => {
        const counted = records.filter(record => isOf(subject, record) && isWithin(since ?? 0, null, record))
        const sum = (read: (record: RequestRecord) => number) =>
          counted.reduce((total, record) => total + read(record), 0)
        return {
          requests: counted.length,
          served_requests: sum(record => toMeteredUsage(record).requests),
          input_tokens: sum(
            each => each.uncached_input_tokens + each.cache_read_tokens + each.cache_write_tokens,
          ),
          output_tokens: sum(each => each.output_tokens + each.reasoning_tokens),
          cost_nano_usd: sum(each => each.cost_nano_usd ?? 0),
          last_at:
            counted.length === 0
              ? null
              : new Date(
                  counted
                    .map(({ at }) => at)
                    .sort()
                    .at(-1) ?? '',
                ),
        }
      })
      expect(selectors.map(({ id }) => totals.get(id))).toEqual(expected)
    }
  })

  test('read no record of a whole hour', async () => {
    const client = await database.pool.connect()
    try {
      await client.query('begin')
      const since = Math.floor(NOW / HOUR_MS) * HOUR_MS - 20 * 24 * HOUR_MS - 1
      const begin = new Date(since + 1)
      const before = await readAll(client, since)
      // Nothing ever deletes usage records. This shows which of them are read.
      await client.query('delete from usage_records where at >= $1', [begin])
      expect(await readAll(client, since)).toEqual(before)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  const readAll = async (client: PoolClient, since: number): Promise<number[]> => {
    const meters = subjects().map(subject => toMeter(subject, 'nano_usd', since, null))
    const used = (await listMeterSeeds(client, meters, NOW, [])).map(seed => seed.used)
    expect(used.every(amount => amount > 0)).toBe(true)
    return used
  }
})

test('the plan for any parameters looks a running request up in a hash', async () => {
  const database = await freshDatabase()
  await createPartitions(database.pool, ['2026-10-21', '2026-11-21'])
  const client = await database.pool.connect()
  try {
    let text = ''
    const recording = {
      query: async (config: { text: string }) => {
        text = config.text
        return { rows: [] }
      },
    } as unknown as PoolClient
    await listMeterSeeds(recording, [], NOW, [])
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query(`prepare seeds as ${text}`)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute seeds('[]', '{}')`)
    const plan = rows.map(row => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('hashed SubPlan')
    expect(plan).not.toContain('$2')
  } finally {
    client.release(true)
    await database.drop()
  }
})

const NO_TOKENS = {
  uncached_input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
}
