import { expect, test } from 'vitest'
import { parseRecordLine, toLineWithRecord } from '../../core/records/record-line.ts'
import type { LineWithRecord, RecordLine, RequestRecord } from '../../core/records/request-record.ts'
import { requestRecord } from '../../testing/harness/request-record.ts'
import { newId } from '../../testing/harness/storage-rows.ts'
import type { EnvironmentRow } from '../schema.ts'
import { ChunkPool } from './chunk-pool.ts'
import { encodeBatch } from './record-batch.ts'
import { RecordEncoder } from './record-encoder.ts'
import { RecordTimes } from './record-times.ts'
import { TextChunks } from './text-chunks.ts'

const ENVIRONMENT = { id: newId(), org_id: newId(), project_id: newId() } as EnvironmentRow
const AT = Date.parse('2026-11-21T12:59:59.998Z')
const ATTEMPT = { provider: 'openai', model: 'm', credential_id: newId(), status: 500, error: 'e', ms: 1 }

const create = (change: Partial<RequestRecord> = {}) => requestRecord(ENVIRONMENT, newId(), AT, change)
/** The row of the log that a line has by itself. */
async function rowOf({ json }: RecordLine): Promise<Buffer> {
  const [row] = await encodeBatch([parseRecordLine(json)])
  return row === undefined ? Buffer.alloc(0) : row.bytes.subarray(row.start, row.logEnd)
}

/** The row that its record has while it waits. */
function keptRowOf({ record, json }: LineWithRecord): Buffer {
  const chunks = new TextChunks(new ChunkPool())
  const { start, logEnd } = new RecordEncoder().encodeKept(record as RequestRecord, json, chunks)
  return chunks.current.subarray(start, logEnd)
}

test.each<[string, Partial<RequestRecord>]>([
  ['plain texts', {}],
  [
    'texts that name its own fields',
    { user: ',"attempts":[1],"metadata":', model: '"attempts":[],"metadata":' },
  ],
  [
    'metadata named as its own fields',
    { metadata: { attempts: ',"attempts":[', metadata: '","metadata":' } },
  ],
  ['attempts that name its own fields', { attempts: [{ ...ATTEMPT, error: ',"metadata":', model: '\\' }] }],
  ['many attempts', { attempts: Array.from({ length: 15 }, () => ATTEMPT) }],
  [
    'controls, NUL and lone surrogates',
    { user: 'a\tb\n\0\ud800', attempts: [{ ...ATTEMPT, model: '\udfff\0' }] },
  ],
  ['numbers that JSON does not have', { first_byte_ms: Number.NaN, cost_nano_usd: Number.POSITIVE_INFINITY }],
])('a record of this process has the row of its line: %s', async (_, change) => {
  const line = toLineWithRecord(create(change))
  expect(keptRowOf(line)).toEqual(await rowOf(line))
})

test('attempts that are added after the line was made are not in the row', async () => {
  const record = create({ attempts: [ATTEMPT] })
  const line = toLineWithRecord(record)
  const before = keptRowOf(line)
  record.attempts.push({ ...ATTEMPT, model: 'late' })
  expect(keptRowOf(line)).toEqual(before)
})

test('times are read as Date does, in any order', () => {
  const times = new RecordTimes()
  const samples = [0, 1, 59_999, 60_000, AT, AT + 2, AT - 1, 0, -1, 253_402_300_799_999]
  for (const ms of samples) {
    const text = new Date(ms).toISOString()
    expect(times.toMs(text)).toBe(ms)
  }
  expect(times.toMs('no time at all, 24 chars')).toBeNaN()
})

test('a long batch lets other work of the event loop run in between, and has each record once, in order of the ids', async () => {
  const lines = Array.from({ length: 3_000 }, () =>
    toLineWithRecord(create({ request_body: 'x\\'.repeat(500) })),
  )
  let ticks = 0
  let isOver = false
  const count = (): void => {
    ticks++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const batch = await encodeBatch([...lines, ...lines])
  isOver = true
  const ids = lines.map(({ id }) => id).sort()
  expect(batch.map(({ id }) => id)).toEqual(ids)
  // All of it takes some 30 ms.
  expect(ticks).toBeGreaterThan(5)
})

test('refuses a record whose time is no text as unstorable', async () => {
  const json = JSON.stringify({ ...create(), at: 5 })
  const line = { id: newId(), at: new Date(AT).toISOString(), json }
  await expect(encodeBatch([line])).rejects.toMatchObject({ code: '22007' })
})

test('refuses a row that does not fit its chunk, since numbers in a text column take more characters than in the JSON', async () => {
  const numbers = Array.from({ length: 2_963 }, () => '1e20').join()
  const json = JSON.stringify({ ...create(), response_body: 'LIST' }).replace('"LIST"', `[${numbers}]`)
  const line = { id: newId(), at: new Date(AT).toISOString(), json }
  await expect(encodeBatch([line])).rejects.toMatchObject({ code: '54000' })
})
