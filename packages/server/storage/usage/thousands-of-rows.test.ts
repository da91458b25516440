import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import type { EnvironmentRow } from '../schema.ts'
import { countConcurrencyRefusals, MAX_REQUESTS } from './refusals.ts'
import { listUsage } from './usage.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const AT = Date.parse('2026-11-21T12:00:00Z')
const GROUPS = 10_000

describe.each(listTestServers())('thousands of rows on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
    await insertRecords(database.pool, [requestRecord(ENVIRONMENT, newId(), AT, { sandbox: false })])
    await multiply('usage_rollups', GROUPS - 1, `'model', 'model-' || n`)
    await multiply(
      'request_logs',
      MAX_REQUESTS - 1,
      `'id', gen_random_uuid(), 'at', r.at - n * interval '1 s', 'ended_at', r.at + (n * 7919 % 30 - n) * interval '1 s'`,
    )
  })
  afterAll(() => database.drop())

  /** Copies each row of a table with other values of some columns, `n` being the number of the copy. */
  async function multiply(table: string, copies: number, values: string): Promise<void> {
    await database.pool.query(
      `insert into ${table} select copy.* from ${table} r, generate_series(1, ${copies}) n,
        lateral jsonb_populate_record(r, jsonb_build_object(${values})) copy`,
    )
  }

  test('a page of usage has 10,000 rows, each with its own group', async () => {
    const filter = {
      orgId: ENVIRONMENT.org_id,
      from: new Date(AT),
      to: new Date(AT + 1),
      granularity: 'day',
      groups: ['model'],
    } as const
    const rows = await listUsage(database.db, filter, { limit: GROUPS, after: undefined })
    expect(rows).toHaveLength(GROUPS)
    expect(new Set(rows.map(({ groups }) => groups.model)).size).toBe(GROUPS)
  })

  test('a bound of running requests is tried on 20,000, in the order in which they ended', async () => {
    const rule = { environmentId: ENVIRONMENT.id, scope: 'environment', scopeRef: null, limit: 10 } as const
    const counted = await countConcurrencyRefusals(database.db, rule, new Date(0))
    expect(counted).toMatchObject({ requests: MAX_REQUESTS, refused: 4_667, affected: 1, isWhole: false })
  })
})
