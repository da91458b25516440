import { CompiledQuery, type KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { type SeededEnvironment, seedEnvironment } from '../../testing/harness/seed-environment.ts'
import { inTenantScope } from '../tenant-scope.ts'
import type { RequestLogFilter } from './request-log-filter.ts'
import { listRequestLogs, tailRequestLogs } from './request-log-list.ts'

const KEY = '00000000-0000-7000-8000-000000000003'
const FIRST_ID = '12345678-0000-0000-0000-000000000000'
const LAST_ID = '12345678-ffff-ffff-ffff-ffffffffffff'
const DAYS = 10
const TO = Date.parse('2026-11-21T00:00:00Z')
const DAY_MS = 86_400_000
const dayAt = (daysAgo: number): Date => new Date(TO - daysAgo * DAY_MS)

/** 20,000 rows over ten days, by SQL alone: ten keys, eight models, one request in 50 failed. */
async function seedRows(database: FreshDatabase, seeded: SeededEnvironment): Promise<void> {
  for (let day = 1; day <= DAYS; day++) {
    const child = `request_logs_${dayAt(day).toISOString().slice(0, 10).replaceAll('-', '')}`
    await database.pool.query(`select make_partition('request_logs', $1, $2, $3)`, [
      child,
      dayAt(day),
      dayAt(day - 1),
    ])
  }
  await database.pool.query(
    `insert into request_logs (id, at, ended_at, stored_at, request_id, org_id, project_id, environment_id, key_id, end_user_id,
        endpoint, surface, model_requested, provider, model, stream, status, error_code, queue_ms, total_ms,
        uncached_input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated,
        cost_nano_usd, sandbox, attempts)
      select gen_random_uuid(), at, at, at, gen_random_uuid(), $1, $2, $3,
        ('00000000-0000-7000-8000-' || lpad((i % 10)::text, 12, '0'))::uuid, 'user-' || i % 900,
        case when i % 400 = 0 then 'embeddings' else 'chat' end, 'native',
        'openai/m' || i % 8, 'openai', 'openai/m' || i % 8, false, case when i % 50 = 0 then 429 else 200 end,
        case when i % 50 = 0 then 'rate_limit_exceeded' end, 0, 1, 1, 0, 0, 1, 0, false, 1, false, '[]'
      from generate_series(1, 20000) as i,
        lateral (select $4::timestamptz - i * interval '43.199 s' as at) as t`,
    [seeded.orgId, seeded.projectId, seeded.environmentId, new Date(TO)],
  )
  await database.pool.query('analyze request_logs')
}

describe.each(listTestServers())('the request log on $label', server => {
  let database: FreshDatabase
  let seeded: SeededEnvironment
  beforeAll(async () => {
    database = await freshDatabase(server)
    seeded = await seedEnvironment(database.pool)
    await seedRows(database, seeded)
  })
  afterAll(() => database.drop())

  /** PostgreSQL's plan for the function's query, in a tenant scope as in the product. */
  async function explain(
    ask: typeof listRequestLogs,
    filter: RequestLogFilter,
    after?: Date,
  ): Promise<string> {
    let compiled: CompiledQuery | undefined
    return await inTenantScope(database.db, [seeded.orgId], async scoped => {
      const spy: KyselyPlugin = {
        transformQuery({ node }) {
          compiled = scoped.getExecutor().compileQuery(node, { queryId: 'explained' })
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const page = { limit: 21, after: after === undefined ? undefined : { at: after, id: KEY } }
      await ask(scoped.withPlugin(spy), seeded.environmentId, filter, page)
      const { sql, parameters } = compiled as CompiledQuery
      const { rows } = await scoped.executeQuery<{ 'QUERY PLAN': string }>(
        CompiledQuery.raw(`explain (analyze, costs off, timing off, summary off) ${sql}`, [...parameters]),
      )
      return rows.map(row => row['QUERY PLAN']).join('\n')
    })
  }
  /** Partitions that the plan has read. */
  const readPartitions = (plan: string): string[] =>
    plan
      .split('\n')
      .filter(line => /Scan.* on request_logs_\d{8}/.test(line) && !line.includes('never executed'))
      .map(line => /on (request_logs_\d{8})/.exec(line)?.[1] ?? '')
  const rowsRemoved = (plan: string): number =>
    [...plan.matchAll(/Rows Removed by Filter: (\d+)/g)].reduce((sum, match) => sum + Number(match[1]), 0)

  test('the newest page reads only the newest partition, by its index', async () => {
    const plan = await explain(listRequestLogs, {})
    expect(new Set(readPartitions(plan))).toEqual(new Set(['request_logs_20261120']))
    expect(plan).not.toMatch(/Seq Scan on request_logs|Sort/)
  })

  test('a time span and a cursor read no partition outside of them', async () => {
    const span = await explain(listRequestLogs, { from: dayAt(5), to: dayAt(4), status: 503 })
    expect(new Set(readPartitions(span))).toEqual(new Set(['request_logs_20261116']))
    const page = await explain(listRequestLogs, {}, dayAt(6.5))
    expect(new Set(readPartitions(page))).toEqual(new Set(['request_logs_20261114']))
  })

  test.each<[string, RequestLogFilter]>([
    ['key, status and model', { keyId: KEY, status: 200, model: 'openai/m3' }],
    ['a model that the key never requested', { keyId: KEY, status: 200, model: 'openai/m4' }],
    ['key and status', { keyId: KEY, status: 200 }],
    ['model', { model: 'm3' }],
    ['a model that was never requested', { model: 'nothing' }],
    ['a status that no request has', { status: 503 }],
    ['an error code', { errorCode: 'rate_limit_exceeded' }],
    ['an end user', { endUserId: 'user-42' }],
    ['metadata that no request has', { metadata: { trace: 'x' } }],
    ['statuses', { status: [429, 503] }],
    ['a class of statuses', { status: '4xx' }],
    ['a class of statuses that no request has', { status: '5xx' }],
    ['a key that never streamed', { keyId: KEY, stream: true }],
    ['an endpoint', { endpoint: 'embeddings' }],
    ['an endpoint that no request named', { endpoint: 'audio' }],
    ['the sandbox, which served none', { sandbox: true }],
    ['the beginning of an id', { requestIds: [FIRST_ID, LAST_ID] }],
    ['no key by this name', { keyId: [] }],
    ['another key', { not: { keyId: KEY, status: 429 } }],
    ['a key without requests', { keyId: '00000000-0000-7000-8000-0000000000ff' }],
  ])('the filter by %s uses an index and skips few rows', async (_, filter) => {
    const plan = await explain(listRequestLogs, { ...filter, from: dayAt(DAYS) })
    expect(plan).not.toContain('Seq Scan on request_logs')
    expect(rowsRemoved(plan)).toBeLessThan(500)
  })

  test('the newest of several statuses come from an index in their order', async () => {
    const plan = await explain(listRequestLogs, { status: [429, '5xx'], from: dayAt(DAYS) })
    expect(readPartitions(plan).length).toBeLessThan(DAYS)
    expect(plan).not.toContain('Sort')
  })

  test('the tail continues at its position by an index', async () => {
    const plan = await explain(tailRequestLogs as typeof listRequestLogs, {}, dayAt(0.01))
    // A week before its position, for records that were stored late.
    expect(new Set(readPartitions(plan)).size).toBe(8)
    expect(plan).not.toContain('Seq Scan on request_logs')
    expect(rowsRemoved(plan)).toBe(0)
  })
})
