import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RequestRecord } from '../../core/records/request-record.ts'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { insertRecords } from '../../testing/harness/insert-records.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import { openPool } from '../pool.ts'
import type { EnvironmentRow } from '../schema.ts'
import { copyRows, type Row } from './copy-rows.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const AT = Date.parse('2026-11-21T12:00:00Z')

function toRow(bytes: readonly number[]): Row {
  return { bytes: Buffer.from(bytes), start: 0, end: bytes.length }
}

describe.each(listTestServers())('a batch of records on $label', server => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase(server)
  })
  afterAll(() => database.drop())

  const create = (change: Partial<RequestRecord> = {}) => requestRecord(ENVIRONMENT, newId(), AT, change)
  const countRows = async (table: string, ids: readonly string[]): Promise<number> => {
    const text = `select count(*) from ${table} where id = any ($1)`
    return (await database.pool.query(text, [ids])).rows[0].count
  }
  const sumRequests = async (model: string): Promise<number> => {
    const text = `select coalesce(sum(requests), 0)::bigint as requests from usage_rollups where span = 'day' and model = $1`
    return (await database.pool.query(text, [model])).rows[0].requests
  }

  test('stores and counts only new records if some are stored, in another case of letters too', async () => {
    const model = newId()
    const records = Array.from({ length: 9 }, () => create({ model }))
    await insertRecords(database.pool, records.slice(2, 5))
    const shouted = records.map(record => ({ ...record, id: record.id.toUpperCase() }))
    expect(await insertRecords(database.pool, [...records, ...shouted])).toEqual({ rejected: [] })
    const ids = records.map(({ id }) => id)
    expect([await countRows('request_logs', ids), await countRows('usage_records', ids)]).toEqual([9, 9])
    expect(await sumRequests(model)).toBe(9)
  })

  test('counts once if two processes store it at the same time in different orders', async () => {
    const model = newId()
    const records = Array.from({ length: 40 }, () => create({ model }))
    const orders = [records, records.toReversed(), records.slice(10), records.slice(0, 30)]
    const results = await Promise.all(orders.map(each => insertRecords(database.pool, each)))
    expect(results.flatMap(({ rejected }) => rejected)).toEqual([])
    expect(await sumRequests(model)).toBe(40)
  })

  test('is sent in pieces, with pauses until it is hurried', async () => {
    const rows = Array.from({ length: 20_000 }, () => toRow([0, 0, 0, 4, 0, 0, 0x25, 0]))
    const client = await database.pool.connect()
    try {
      await client.query('create temporary table days (day date)')
      let asked = 0
      await copyRows(client, 'days (day)', 1, rows, () => ++asked > 3)
      // 20,000 rows of ten bytes are seven pieces of 32 KiB.
      expect(asked).toBe(6)
      expect((await client.query('select count(*)::int as count from days')).rows).toEqual([
        { count: 20_000 },
      ])
    } finally {
      client.release(true)
    }
  })

  test('fails alone if the database refuses it while most of it is still to be sent, and its connection continues', async () => {
    const pool = openPool(database.connection, () => {}, { max: 1 })
    try {
      // A date has four bytes, so the first row of many pieces is refused.
      const good = Array.from({ length: 20_000 }, () => toRow([0, 0, 0, 4, 0, 0, 0x25, 0]))
      const rows = [toRow([0, 0, 0, 5, 0, 0, 0, 0x25, 0]), ...good]
      const client = await pool.connect()
      await client.query('create temporary table days (day date)')
      const copying = copyRows(client, 'days (day)', 1, rows, () => true)
      const after = client.query('select 1 as one')
      await expect(copying).rejects.toMatchObject({ code: '22P03' })
      expect((await after).rows).toEqual([{ one: 1 }])
      await copyRows(client, 'days (day)', 1, good, () => true)
      expect((await client.query('select count(*)::int as count from days')).rows).toEqual([
        { count: 20_000 },
      ])
      client.release()
    } finally {
      await pool.end()
    }
  })

  test('keeps every character that COPY gives a meaning', async () => {
    const text = 'a\tb\nc\rd\\e\\N\\.\n\\.\n"\u2028\u0001'
    const record = create({
      request_body: text,
      response_body: '\\N',
      user: '\\.',
      metadata: { [text]: text },
      model: text,
    })
    await insertRecords(database.pool, [record])
    const { rows } = await database.pool.query('select * from request_logs where id = $1', [record.id])
    const { request_body, response_body, user, metadata, model, attempts } = record
    expect(rows).toMatchObject([{ request_body, response_body, user, metadata, model, attempts }])
    expect(await sumRequests(text)).toBe(1)
  })

  test('counts latencies and first bytes in the slots of the schema, and costs beyond what a number holds exactly', async () => {
    const model = newId()
    const durations = [0, 9.994, 9.9999999, 10, 12.69, 12.7, 12.71, 595, 600, 7e6]
    const cost = 2 ** 53 - 1
    await insertRecords(
      database.pool,
      durations.map(ms =>
        create({ model, total_ms: ms, stream: true, first_byte_ms: ms, cost_nano_usd: cost }),
      ),
    )
    const { rows } = await database.pool.query(
      `select cost_nano_usd::text as cost, to_jsonb(r) as row from usage_rollups r where span = 'day' and model = $1`,
      [model],
    )
    expect(rows[0].cost).toBe(String(BigInt(cost) * 10n))
    const slots = await database.pool.query('select latency_slot(ms) as slot from unnest($1::real[]) as ms', [
      durations,
    ])
    const expected = new Map<string, number>()
    for (const { slot } of slots.rows) {
      for (const letter of ['l', 'f']) {
        const column = `${letter}${String(slot).padStart(2, '0')}`
        expected.set(column, (expected.get(column) ?? 0) + 1)
      }
    }
    expect(rows[0].row).toMatchObject(Object.fromEntries(expected))
  })

  test('counts no first byte of a plain answer, nor of a stream that had none', async () => {
    const model = newId()
    const records = [
      create({ model, stream: false, first_byte_ms: 5 }),
      create({ model, stream: true, first_byte_ms: null }),
      create({ model, stream: true, first_byte_ms: 0 }),
    ]
    await insertRecords(database.pool, records)
    const text = `select f00 from usage_rollups where span = 'day' and model = $1`
    expect((await database.pool.query(text, [model])).rows).toEqual([{ f00: 1 }])
  })

  test('is summed separately for each owner, model and quarter of an hour', async () => {
    const model = newId()
    const other = { ...ENVIRONMENT, id: newId() } as EnvironmentRow
    const records = [
      create({ model, end_user_id: 'a' }),
      create({ model, end_user_id: 'a', at: new Date(AT + 899_999).toISOString() }),
      create({ model, end_user_id: 'a', at: new Date(AT + 900_000).toISOString() }),
      create({ model, end_user_id: 'b' }),
      create({ model, end_user_id: 'a', key_id: newId() }),
      create({ model, end_user_id: 'a', sandbox: false }),
      create({ model, end_user_id: 'a', provider: 'other' }),
      requestRecord(other, newId(), AT, { model, end_user_id: 'a' }),
    ]
    await insertRecords(database.pool, records)
    const read = async (table: string, span: string): Promise<number[]> => {
      const text = `select requests from ${table} where span = $1 and model = $2 order by 1`
      const { rows } = await database.pool.query<{ requests: number }>(text, [span, model])
      return rows.map(({ requests }) => requests)
    }
    expect(await read('end_user_rollups', 'hour')).toEqual([1, 1, 1, 1, 1, 1, 2])
    expect(await read('end_user_rollups', 'day')).toEqual([1, 1, 1, 1, 1, 3])
    expect(await read('usage_rollups', 'day')).toEqual([1, 1, 1, 1, 4])
  })

  test('is stored if the tables have row-level security for their owner too', async () => {
    const own = await freshDatabase(server)
    const name = `plain_${newId().replaceAll('-', '')}`
    try {
      await own.pool.query(`create role ${name} nologin`)
      await own.pool.query(`grant all on schema public to ${name}; grant select on organizations to ${name}`)
      for (const table of [
        'request_logs',
        'usage_records',
        'usage_rollups',
        'end_user_rollups',
        'meter_rollups',
      ]) {
        await own.pool.query(
          `alter table ${table} owner to ${name}; alter table ${table} force row level security`,
        )
      }
      const pool = openPool(own.connection, () => {}, { max: 2 })
      pool.options.onConnect = async client => void (await client.query(`set role ${name}`))
      try {
        const records = [create(), create({ at: '2026-12-01T00:00:00.000Z' })]
        expect(await insertRecords(pool, records)).toEqual({ rejected: [] })
        expect(await insertRecords(pool, [...records, create()])).toEqual({ rejected: [] })
        const { rows } = await pool.query('select count(*) from request_logs')
        expect(rows).toEqual([{ count: 3 }])
        const summed = await pool.query(
          `select sum(requests)::int as requests from meter_rollups where kind = 'environment'`,
        )
        expect(summed.rows).toEqual([{ requests: 3 }])
      } finally {
        await pool.end()
      }
    } finally {
      await own.pool.query(`drop owned by ${name} cascade; drop role ${name}`)
      await own.drop()
    }
  })
})
