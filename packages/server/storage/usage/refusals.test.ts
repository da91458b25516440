import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import type { EnvironmentRow } from '../schema.ts'
import { countConcurrencyRefusals, countRefusals, type TriedRule } from './refusals.ts'

const newId = openIds(systemClock, systemRandom)
const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const SINCE = new Date('2026-11-20T00:00:00Z')
const RULE: TriedRule = {
  environmentId: ENVIRONMENT.id,
  scope: 'environment',
  scopeRef: null,
  metric: 'requests',
  limit: 2,
  window: 60,
  timeZone: 'Europe/Berlin',
}

describe.each(listTestServers())('refusals on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
    // Each has 26 tokens. Four in one minute, two of them by ann; one just after midnight in Berlin.
    const key_id = newId()
    const at = (time: string, change: Partial<RequestRecord> = {}) =>
      requestRecord(ENVIRONMENT, newId(), Date.parse(`2026-11-21T${time}Z`), change)
    const records = [
      at('10:00:01', { end_user_id: 'ann' }),
      at('10:00:02', { end_user_id: 'ann', key_id }),
      at('10:00:03', { end_user_id: 'bob' }),
      at('10:00:59.900', { key_id }),
      at('10:00:10', {
        status: 429,
        uncached_input_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
      }),
      at('23:00:01', { end_user_id: 'ann' }),
    ]
    await insertRecords(database.pool, records)
  })
  afterEach(() => database.drop())

  const count = (change: Partial<TriedRule>, max?: number) =>
    countRefusals(database.db, { ...RULE, ...change }, SINCE, max)

  test('counts what follows the requests that used a window up, without those that failed anyway', async () => {
    expect(await count({})).toEqual({
      requests: 5,
      refused: 2,
      affected: 1,
      oldest: new Date('2026-11-21T10:00:01Z'),
      isWhole: true,
    })
    expect(await count({ limit: 4 })).toMatchObject({ refused: 0, affected: 0 })
    expect(await count({ limit: 0 })).toMatchObject({ refused: 5 })
  })

  test('counts a request that failed at a provider for a rate limit, and not for a quota', async () => {
    const nothing = {
      status: 503,
      uncached_input_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
    }
    const at = Date.parse('2026-11-21T10:00:00.500Z')
    await insertRecords(database.pool, [requestRecord(ENVIRONMENT, newId(), at, nothing)])
    expect(await count({})).toMatchObject({ requests: 6, refused: 3 })
    expect(await count({ window: 'day' })).toMatchObject({ requests: 5 })
  })

  test('counts each end user alone, one of them, or one key', async () => {
    expect(await count({ scope: 'default_end_user', limit: 1 })).toMatchObject({
      requests: 4,
      refused: 1,
      affected: 1,
    })
    expect(await count({ scope: 'end_user', scopeRef: 'bob', limit: 0 })).toMatchObject({
      requests: 1,
      refused: 1,
    })
    expect(await count({ scope: 'key', scopeRef: newId(), limit: 0 })).toMatchObject({
      requests: 0,
      oldest: null,
    })
  })

  test('counts tokens, and days of the time zone', async () => {
    expect(await count({ metric: 'tokens', limit: 27, window: 'day' })).toMatchObject({ refused: 2 })
    expect(await count({ window: 'day', limit: 3, timeZone: 'UTC' })).toMatchObject({ refused: 2 })
    expect(await count({ window: 'day', limit: 3 })).toMatchObject({ refused: 1 })
  })

  test('reads the newest only where there are too many', async () => {
    expect(await count({ limit: 0 }, 2)).toMatchObject({
      requests: 2,
      isWhole: false,
      oldest: new Date('2026-11-21T10:00:59.900Z'),
    })
  })

  test('counts for a bound of running requests in short ticks', async () => {
    let passed = 0
    const ticks = { isOver: true, next: async () => void passed++ }
    const counted = await countConcurrencyRefusals(database.db, { ...RULE, limit: 0 }, SINCE, 100, ticks)
    expect(counted).toMatchObject({ requests: 5, refused: 5, isWhole: true })
    expect(passed).toBe(5)
  })
})
