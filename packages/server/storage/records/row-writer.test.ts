import fc from 'fast-check'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, listTestServers } from '../../testing/harness/database.ts'
import { copyRows } from './copy-rows.ts'
import { MAX_FIELD_BYTES, MAX_UNIT_BYTES, RowWriter } from './row-writer.ts'
import { toStorableJson, toStorableText, UnstorableValue } from './storable.ts'

const TYPES = {
  uuid: 'uuid',
  text: 'text',
  jsonb: 'jsonb',
  boolean: 'boolean',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  timestamp: 'timestamptz',
}
/** The number of fields, with that of the row's number. */
const FIELDS = Object.keys(TYPES).length + 1

const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null })

interface Values {
  uuid: string | null
  text: string | null
  jsonb: string | null
  boolean: boolean | null
  int4: number | null
  int8: number | null
  float4: number | null
  timestamp: number | null
}

const anyValues: fc.Arbitrary<Values> = fc.record({
  uuid: maybe(
    fc.oneof(
      fc.uuid(),
      fc.uuid().map(text => text.toUpperCase()),
    ),
  ),
  text: maybe(fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('\0\ud800é€'))),
  jsonb: maybe(fc.json().map(toStorableJson)),
  boolean: maybe(fc.boolean()),
  int4: maybe(fc.oneof(fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31)), fc.integer())),
  int8: maybe(fc.oneof(fc.constantFrom(0, -1, 2 ** 32, 2 ** 62, -(2 ** 63)), fc.maxSafeInteger())),
  float4: maybe(fc.float({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)),
  // PostgreSQL's text has no year before 1 without a suffix.
  timestamp: maybe(
    fc.integer({ min: Date.parse('0001-01-01T00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') }),
  ),
})

function write(values: Values, number: number): Buffer {
  const row = new RowWriter()
  const chars = (values.text?.length ?? 0) + (values.jsonb?.length ?? 0)
  const bytes = Buffer.alloc(FIELDS * MAX_FIELD_BYTES + chars * MAX_UNIT_BYTES)
  row.moveTo(bytes, 0)
  row.int4(number)
  if (number % 2 === 0) row.uuid(values.uuid)
  else row.knownUuid(values.uuid)
  row.text(values.text)
  row.jsonb(values.jsonb ?? undefined)
  row.boolean(values.boolean)
  row.int4(values.int4)
  row.int8(values.int8)
  row.float4(values.float4)
  row.timestamp(values.timestamp ?? undefined)
  return bytes.subarray(0, row.at)
}

describe.each(listTestServers())('rows in the binary format on $label', server => {
  let database: FreshDatabase
  let client: PoolClient
  beforeAll(async () => {
    database = await freshDatabase(server)
    client = await database.pool.connect()
    const columns = Object.entries(TYPES).map(([name, type]) => `"${name}_value" ${type}`)
    await client.query(`create temporary table written (n integer, ${columns.join(', ')})`)
    await client.query('create temporary table read (like written)')
  })
  afterAll(async () => {
    client.release(true)
    await database.drop()
  })

  test('any values are those that the database reads as text', async () => {
    const samples = fc.sample(anyValues, 2_000)
    const columns = Object.keys(TYPES).map(name => `"${name}_value"`)
    const rows = samples.map((values, index) => {
      const bytes = write(values, index + 1)
      return { bytes, start: 0, end: bytes.length }
    })
    await copyRows(client, `written (n, ${columns.join(', ')})`, FIELDS, rows, () => true)
    const texts = samples.map(({ text, timestamp, int8, ...values }) => ({
      ...values,
      int8: int8 === null ? null : BigInt(int8).toString(),
      text: text === null ? null : Buffer.from(toStorableText(text)).toString(),
      timestamp: timestamp === null ? null : new Date(timestamp).toISOString(),
    }))
    const values = Object.entries(TYPES).map(([name, type]) => `(v ->> '${name}')::${type}`)
    await client.query(
      `insert into read select n, ${values.join(', ')} from jsonb_array_elements($1::jsonb) with ordinality as e(v, n)`,
      [JSON.stringify(texts)],
    )
    const { rows: differences } = await client.query(
      `select w, r from written w join read r on r.n = w.n where w::text is distinct from r::text`,
    )
    expect(differences).toEqual([])
    expect((await client.query('select count(*)::int as count from written')).rows).toEqual([
      { count: 2_000 },
    ])
  })
})

test.each<[string, keyof RowWriter, unknown, string]>([
  ['a number of another type', 'int4', '7', '22P02'],
  ['a whole number with a fraction', 'int8', 0.5, '22P02'],
  ['a number beyond 32 bits', 'int4', 2 ** 31, '22003'],
  ['a number beyond 64 bits', 'int8', 2 ** 63, '22003'],
  ['a number beyond a real', 'float4', 1e39, '22003'],
  ['a number too small for a real', 'float4', 1e-50, '22003'],
  ['a boolean of another type', 'boolean', 1, '22P02'],
  ['a UUID of another length', 'uuid', 'a', '22P02'],
  ['a UUID without hyphens', 'uuid', '0'.repeat(36), '22P02'],
  ['a UUID with another digit', 'uuid', '00000000-0000-7000-8000-00000000000g', '22P02'],
  ['a UUID with a digit of another alphabet', 'uuid', '00000000-0000-7000-8000-00000000000\u0660', '22P02'],
  ['a UUID of another type', 'uuid', 7, '22P02'],
  ['a known UUID of another type', 'knownUuid', 7, '22P02'],
  ['a known UUID of another form', 'knownUuid', '00000000-0000-7000-8000-0000000000', '22P02'],
  ['no time', 'timestamp', Number.NaN, '22007'],
  ['a time that Date does not have', 'timestamp', 1e17, '22008'],
])('throws an UnstorableValue for %s', (_, method, value, code) => {
  const row = new RowWriter()
  row.moveTo(Buffer.alloc(100), 0)
  const call = row[method] as unknown as (value: unknown) => void
  try {
    call.call(row, value)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(UnstorableValue)
    expect(error).toMatchObject({ code })
  }
})

test('numbers that JSON does not have are null', () => {
  const row = new RowWriter()
  const bytes = Buffer.alloc(12)
  row.moveTo(bytes, 0)
  row.int4(Number.NaN)
  row.int8(Number.POSITIVE_INFINITY)
  row.float4(Number.NEGATIVE_INFINITY)
  expect([row.at, bytes]).toEqual([12, Buffer.alloc(12, 0xff)])
})
