import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { insertRequestRecords } from './request-logs.ts'
import { toStorableJson } from './storable.ts'

const id = openIds(systemClock, systemRandom)
const TENANT = { org_id: id(), project_id: id(), environment_id: id() }

function createRecord(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: id(),
    at: '2026-11-21T10:00:00.123Z',
    request_id: id(),
    ...TENANT,
    key_id: id(),
    end_user_id: null,
    endpoint: 'chat',
    surface: 'native',
    model_requested: 'sandbox/echo',
    provider: 'sandbox',
    model: 'echo',
    stream: false,
    status: 200,
    error_code: null,
    finish_reason: 'stop',
    queue_ms: 0.25,
    first_byte_ms: 1.5,
    total_ms: 2.75,
    uncached_input_tokens: 10,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 5,
    reasoning_tokens: 0,
    usage_estimated: false,
    cost_nano_usd: 9_007_199_254_740_991,
    hold_tokens: null,
    hold_nano_usd: null,
    output_cap: null,
    provider_message: null,
    user: null,
    sandbox: true,
    attempts: [
      { provider: 'sandbox', model: 'echo', credential_id: id(), status: 200, error: null, ms: 1.5 },
    ],
    metadata: { team: 'blue' },
    dropped_params: ['seed', 'generationConfig.topK'],
    checked_limits: [
      { kind: 'limit', id: id(), scope: 'key', metric: 'requests', limit: 60, reserved: 1, remaining: 41 },
    ],
    request_body: '{"model":"sandbox/echo"}',
    response_body: null,
    ...change,
  }
}

test('replaces NUL and lone surrogates by U+FFFD, and nothing else', () => {
  const value = ['a\0b', '\ud83d', '\udd11x', '🔑', '\\u0000', '\\\0', '\\\\ud800', '\u001f', { 'k\0': 'é' }]
  expect(JSON.parse(toStorableJson(JSON.stringify(value)))).toEqual([
    'a\ufffdb',
    '\ufffd',
    '\ufffdx',
    '🔑',
    '\\u0000',
    '\\\ufffd',
    '\\\\ud800',
    '\u001f',
    { 'k\ufffd': 'é' },
  ])
})

describe.each(listTestServers())('request records on $label', server => {
  let database: FreshDatabase
  beforeEach(async () => {
    database = await freshDatabase(server)
  })
  afterEach(() => database.drop())

  const count = async (table: 'request_logs' | 'usage_records'): Promise<number> => {
    const { rows } = await database.pool.query<{ count: number }>(`select count(*) from ${table}`)
    return rows[0]?.count ?? 0
  }
  const partitions = async (): Promise<string[]> => {
    const { rows } = await database.pool.query<{ name: string }>(
      'select inhrelid::regclass::text as name from pg_inherits join pg_class c on c.oid = inhrelid ' +
        `where c.relkind = 'r' order by 1`,
    )
    return rows.map(row => row.name)
  }

  test('stores a record with all its fields', async () => {
    const record = createRecord()
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
    const { rows } = await database.pool.query('select * from request_logs')
    expect(rows).toEqual([
      {
        ...record,
        at: new Date(record.at),
        ended_at: new Date('2026-11-21T10:00:00.125Z'),
        stored_at: expect.any(Date),
        feedback: null,
      },
    ])
    const usage = await database.pool.query('select id, cost_nano_usd, key_id from usage_records')
    expect(usage.rows).toEqual([
      { id: record.id, cost_nano_usd: record.cost_nano_usd, key_id: record.key_id },
    ])
  })

  test('stores a record once, however often it is replayed in a batch or across batches', async () => {
    const records = [createRecord(), createRecord(), createRecord()]
    await insertRecords(database.pool, [...records, ...records])
    await insertRecords(database.pool, records)
    expect([await count('request_logs'), await count('usage_records')]).toEqual([3, 3])
  })

  test('creates no partition for an empty batch', async () => {
    expect(await insertRecords(database.pool, [])).toEqual({ rejected: [] })
    expect(await partitions()).toEqual([])
  })

  test('creates a log partition for each UTC day and a usage partition for each UTC month', async () => {
    const times = ['2026-11-30T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z']
    await database.pool.query(`set time zone 'Asia/Tokyo'`)
    await insertRecords(
      database.pool,
      times.map(at => createRecord({ at })),
    )
    expect(await partitions()).toEqual([
      'request_logs_20261130',
      'request_logs_20261201',
      'request_logs_20261231',
      'usage_records_202611',
      'usage_records_202612',
    ])
  })

  test('concurrent writers of a new day create its partitions once', async () => {
    const batches = Array.from({ length: 8 }, () => [
      createRecord({ at: '2027-01-01T00:00:00.000Z' }),
      createRecord({ at: '2026-12-31T00:00:00.000Z' }),
    ])
    const results = await Promise.all(batches.map(batch => insertRecords(database.pool, batch)))
    expect(results.flatMap(result => result.rejected)).toEqual([])
    expect(await count('request_logs')).toBe(16)
    expect(await partitions()).toHaveLength(4)
  })

  test('gives a partition the indexes of its parent', async () => {
    await insertRecords(database.pool, [createRecord()])
    const { rows } = await database.pool.query(
      `select count(*) from pg_indexes where tablename = 'request_logs_20261121'`,
    )
    expect(rows).toEqual([{ count: 14 }])
  })

  test('returns records that PostgreSQL rejects, and stores the others', async () => {
    const poisoned = [
      createRecord({ request_id: 'no-uuid' }),
      createRecord({ output_tokens: 3_000_000_000 }),
      createRecord({ at: 'yesterday' }),
      createRecord({ model: undefined as never, stream: null as never }),
    ]
    const good = Array.from({ length: 20 }, () => createRecord())
    const batch = [...good.slice(0, 7), ...poisoned, ...good.slice(7)]
    const { rejected } = await insertRecords(database.pool, batch)
    expect(rejected.map(({ id }) => id).sort()).toEqual(poisoned.map(record => record.id).sort())
    expect(rejected.map(({ reason }) => reason.slice(0, 5)).sort()).toEqual([
      '22003',
      '22P02',
      '23502',
      'at is',
    ])
    expect([await count('request_logs'), await count('usage_records')]).toEqual([20, 20])
  })

  test('stores a body that contains NUL characters', async () => {
    const record = createRecord({ response_body: 'a\0b\ud800', metadata: { 'k\0': '\0' } })
    expect(await insertRecords(database.pool, [record])).toEqual({ rejected: [] })
    const { rows } = await database.pool.query('select response_body, metadata from request_logs')
    expect(rows).toEqual([{ response_body: 'a\ufffdb\ufffd', metadata: { 'k\ufffd': '\ufffd' } }])
  })

  /** Returns the line that a version without bounds wrote. */
  const toUnboundedLine = (record: RequestRecord) => ({
    id: record.id,
    at: record.at,
    json: JSON.stringify(record),
  })
  /** No compression makes it fit. */
  const randomText = (length: number): string => {
    const bytes = systemRandom.bytes(2 * length)
    const at = (index: number): number => 0x4e00 + (bytes.readUInt16LE(2 * index) % 20_000)
    return Array.from({ length }, (_, index) => String.fromCodePoint(at(index))).join('')
  }

  test('a record of texts that no index takes is stored without them, with its tokens and its cost', async () => {
    const named = createRecord({ end_user_id: randomText(4096), model: `custom/${randomText(5120)}` })
    const good = Array.from({ length: 5 }, () => createRecord())
    const reduced: [string, string][] = []
    const { rejected } = await insertRequestRecords(
      database.pool,
      [...good.slice(0, 2), named, ...good.slice(2)].map(toUnboundedLine),
      (id, reason) => reduced.push([id, reason.slice(0, 5)]),
    )
    expect(rejected).toEqual([])
    expect(reduced).toEqual([[named.id, '54000']])
    const { rows } = await database.pool.query('select * from usage_records where id = $1', [named.id])
    expect(rows).toEqual([
      expect.objectContaining({
        key_id: named.key_id,
        output_tokens: named.output_tokens,
        cost_nano_usd: named.cost_nano_usd,
        model: expect.stringMatching(/^custom\/.{100,130}$/),
        end_user_id: expect.stringMatching(/^.{100,130}$/),
      }),
    ])
    const rollups = await database.pool.query(
      `select sum(requests) as requests from usage_rollups where span = 'hour'`,
    )
    expect(Number(rollups.rows[0]?.requests)).toBe(6)
    // A replay of it counts once too.
    await insertRequestRecords(database.pool, [toUnboundedLine(named)])
    expect([await count('request_logs'), await count('usage_records')]).toEqual([6, 6])
  })

  test('a record of the longest texts that a caller may send is stored as it is', async () => {
    const record = createRecord({
      end_user_id: randomText(255),
      model_requested: randomText(512),
      provider: 'p'.repeat(32),
      model: `${'p'.repeat(31)}/${randomText(512)}`,
      metadata: Object.fromEntries(Array.from({ length: 16 }, () => [randomText(64), randomText(512)])),
    })
    const told: string[] = []
    const lines = [record].map(toUnboundedLine)
    expect(await insertRequestRecords(database.pool, lines, id => told.push(id))).toEqual({ rejected: [] })
    expect(told).toEqual([])
    const { rows } = await database.pool.query('select model, end_user_id, metadata from request_logs')
    expect(rows).toEqual([
      { model: record.model, end_user_id: record.end_user_id, metadata: record.metadata },
    ])
  })

  test('whatever stands in its texts, a record is stored and counts', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.constantFrom('', '\0', '\ud800', '\udc00\ud800', '\\u0000', '\\', '"', '__proto__'),
      fc.integer({ min: 1, max: 6000 }).map(randomText),
    )
    const change = fc.record(
      {
        end_user_id: text,
        model_requested: text,
        model: text,
        provider: text,
        endpoint: text,
        surface: text,
        finish_reason: text,
        error_code: text,
        metadata: fc.dictionary(text, text, { maxKeys: 5 }),
        request_body: text,
        response_body: text,
      },
      { requiredKeys: [] },
    )
    let stored = 0
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async changes => {
        const records = changes.map(each => createRecord({ ...each, cost_nano_usd: 1 }))
        expect(await insertRecords(database.pool, records)).toEqual({ rejected: [] })
        const unbounded = changes.map(each => toUnboundedLine(createRecord({ ...each, cost_nano_usd: 1 })))
        expect(await insertRequestRecords(database.pool, unbounded)).toEqual({ rejected: [] })
        stored += 2 * changes.length
      }),
      { numRuns: 25 },
    )
    const { rows } = await database.pool.query(
      `select sum(cost_nano_usd) as spent from usage_rollups where span = 'hour'`,
    )
    expect([await count('request_logs'), await count('usage_records'), Number(rows[0]?.spent)]).toEqual([
      stored,
      stored,
      stored,
    ])
  })

  test('rejects the whole batch if a table is missing', async () => {
    await database.pool.query('alter table request_logs rename to request_logs_gone')
    await expect(insertRecords(database.pool, [createRecord()])).rejects.toThrow('request_logs')
  })
})
