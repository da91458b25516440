import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toLineWithRecord } from '../../core/records/record-line.ts'
import type { RecordBatch, RecordLine, RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import type { EnvironmentRow } from '../schema.ts'
import { openPackedBatches } from './packed-batch.ts'
import { insertRequestRecords } from './request-logs.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const AT = Date.parse('2026-11-21T12:00:00Z')
const ATTEMPT = { provider: 'openai', model: 'm', credential_id: newId(), status: 500, error: 'e', ms: 1 }

const create = (change: Partial<RequestRecord> = {}) => requestRecord(ENVIRONMENT, newId(), AT, change)

describe.each(listTestServers())('a batch that waits as bytes, on $label', server => {
  let database: FreshDatabase
  let openBatch: () => RecordBatch
  /** The lines that were inserted one by one, and the ids of the records that were refused. */
  const inserted: RecordLine[] = []
  const rejected: string[] = []

  beforeAll(async () => {
    database = await freshDatabase(server)
    openBatch = openPackedBatches({
      pool: database.pool,
      async insertLines(lines) {
        inserted.push(...lines)
        const result = await insertRequestRecords(database.pool, lines)
        rejected.push(...result.rejected.map(({ id }) => id))
      },
    })
  })
  afterAll(() => database.drop())

  function fill(records: readonly RequestRecord[], keepsRows = true): RecordBatch {
    const batch = openBatch()
    for (const record of records) batch.add(toLineWithRecord(record), keepsRows)
    inserted.length = 0
    rejected.length = 0
    return batch
  }

  const rowsOf = async (model: string) => {
    const { rows } = await database.pool.query(
      `select to_jsonb(l) - 'id' - 'request_id' - 'stored_at' as row from request_logs l where model = $1 order by endpoint`,
      [model],
    )
    return rows.map(({ row }) => row)
  }
  const totalsOf = async (model: string) => {
    const { rows } = await database.pool.query(
      `select sum(requests)::int as requests, sum(cost_nano_usd)::int as cost from usage_rollups
        where span = 'day' and model = $1`,
      [model],
    )
    return rows[0]
  }

  test('stores the same rows and sums with rows kept, without, and line by line', async () => {
    const model = newId()
    const changes: Partial<RequestRecord>[] = [
      { cost_nano_usd: 3 },
      { user: 'a\tb\\\n\0\ud800', attempts: [ATTEMPT, { ...ATTEMPT, error: '","metadata":' }] },
      { request_body: 'ü€😀'.repeat(5_000), response_body: 'x'.repeat(9_000) },
      { metadata: { k: '\\N' }, cost_nano_usd: null },
      { at: '2026-12-31T23:59:59.999Z', cost_nano_usd: 4 },
    ]
    const common = { model, key_id: newId(), attempts: [ATTEMPT] }
    const makeRecords = () =>
      changes.map((change, index) => create({ ...common, endpoint: `${index}`, ...change }))
    await fill(makeRecords()).insert(() => true)
    const kept = await rowsOf(model)
    const totals = await totalsOf(model)
    expect([kept.length, totals.requests, inserted]).toEqual([changes.length, changes.length, []])
    await fill(makeRecords(), false).insert(() => true)
    expect(await rowsOf(model)).toEqual(kept.flatMap(row => [row, row]))
    await insertRequestRecords(database.pool, makeRecords().map(toLineWithRecord))
    expect(await rowsOf(model)).toEqual(kept.flatMap(row => [row, row, row]))
    expect(await totalsOf(model)).toEqual({ requests: 3 * totals.requests, cost: 3 * totals.cost })
  })

  test('stores the attempts of the line, not those that were added later', async () => {
    const model = newId()
    const record = create({ model, attempts: [ATTEMPT] })
    const batch = fill([record])
    record.attempts.push({ ...ATTEMPT, model: 'late' })
    await batch.insert(() => true)
    expect(await rowsOf(model)).toMatchObject([{ attempts: [ATTEMPT] }])
  })

  test.each<[string, Partial<RequestRecord>]>([
    ['a time that is none', { at: '2026-02-30T00:00:00.000Z' }],
    ['a cost that is no whole number', { cost_nano_usd: 0.5 }],
    ['a count of the wrong type', { output_tokens: '7' as unknown as number }],
    ['an id that is none', { key_id: 'no uuid' }],
  ])('with %s stores the others and sets that record aside', async (_, change) => {
    const model = newId()
    for (const keepsRows of [true, false]) {
      const odd = create({ model, ...change })
      const records = [...Array.from({ length: 5 }, () => create({ model })), odd, create({ model })]
      await fill(records, keepsRows).insert(() => true)
      expect(rejected).toEqual([odd.id])
    }
    expect([(await rowsOf(model)).length, (await totalsOf(model)).requests]).toEqual([12, 12])
  })

  test('counts each record once if some are already stored, and can be inserted again', async () => {
    const model = newId()
    const records = Array.from({ length: 9 }, () => create({ model }))
    await fill(records.slice(2, 5)).insert(() => true)
    const batch = fill(records)
    await batch.insert(() => true)
    await batch.insert(() => true)
    expect([(await rowsOf(model)).length, (await totalsOf(model)).requests]).toEqual([9, 9])
  })

  test('is kept whole if the database cannot be reached, and is stored later', async () => {
    const model = newId()
    let isDown = true
    const pool = new Proxy(database.pool, {
      get(target, name, receiver) {
        if (isDown && name === 'connect') return () => Promise.reject(new Error('out of reach'))
        const value = Reflect.get(target, name, receiver)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const batch = openPackedBatches({ pool, insertLines: async () => {} })()
    for (let i = 0; i < 3; i++)
      batch.add(toLineWithRecord(create({ model, request_body: 'x'.repeat(6_000) })), true)
    for (let i = 0; i < 3; i++) batch.add(toLineWithRecord(create({ model })), true)
    await expect(batch.insert(() => true)).rejects.toThrow('out of reach')
    isDown = false
    await batch.insert(() => true)
    expect([(await rowsOf(model)).length, (await totalsOf(model)).requests]).toEqual([6, 6])
  })

  test('does not disturb the batches that reuse its memory', async () => {
    const models = Array.from({ length: 4 }, newId)
    // Many chunks each, and more records than a batch has room for at first.
    const [first, second] = models.slice(0, 2).map(model => fill(manyOf(model))) as [RecordBatch, RecordBatch]
    await first.insert(() => true)
    first.release()
    const third = fill(manyOf(models[2] as string))
    await second.insert(() => true)
    second.release()
    const fourth = fill(manyOf(models[3] as string))
    await Promise.all([third.insert(() => true), fourth.insert(() => true)])
    for (const model of models) {
      const users = (await rowsOf(model)).map(({ user }) => user)
      expect(users.sort()).toEqual(
        manyOf(model)
          .map(({ user }) => user)
          .sort(),
      )
    }
  })

  const manyOf = (model: string) =>
    Array.from({ length: 700 }, (_, index) => create({ model, user: `${model} ${index} ü` }))
})
