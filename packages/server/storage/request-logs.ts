import { DatabaseError, type Pool } from 'pg'
import { toReducedLine } from '../core/record-line.ts'
import type { RecordLine, RequestRecord } from '../core/request-record.ts'
import { createPartitions } from './partitions.ts'
import { addToEndUserUsage, addToUsage } from './usage-rollups.ts'

export interface RejectedRecord {
  readonly id: string
  readonly reason: string
  /** As it was given. */
  readonly line: RecordLine
}

/** Columns of both tables, named as the record's fields. */
const USAGE_COLUMNS = [
  'id',
  'at',
  'org_id',
  'project_id',
  'environment_id',
  'key_id',
  'end_user_id',
  'endpoint',
  'provider',
  'model',
  'status',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'usage_estimated',
  'cost_nano_usd',
  'sandbox',
] as const satisfies readonly (keyof RequestRecord)[]

/** What the log has besides, without what is large. */
export const LOG_SUMMARY_COLUMNS = [
  ...USAGE_COLUMNS,
  'request_id',
  'hold_tokens',
  'hold_nano_usd',
  'output_cap',
  'surface',
  'model_requested',
  'user',
  'stream',
  'error_code',
  'provider_message',
  'finish_reason',
  'queue_ms',
  'first_byte_ms',
  'total_ms',
  'attempts',
] as const satisfies readonly (keyof RequestRecord)[]

const LOG_COLUMNS = [
  ...LOG_SUMMARY_COLUMNS,
  'metadata',
  'request_body',
  'response_body',
] as const satisfies readonly (keyof RequestRecord)[]

/** `user` is a word of SQL. */
function quoteAll(columns: readonly string[]): string {
  return columns.map(name => `"${name}"`).join(', ')
}

/**
 * Inserts a batch in one statement: one transaction, one round trip, and the batch is sent and parsed once. Only records
 * that are new in usage_records are added to the rollups. Usage records are kept for ever, so a replay never counts twice.
 */
const INSERT = `
with record as materialized (
  select distinct on (id) * from json_populate_recordset(null::request_logs, $1::json) order by id
),
logged as (
  insert into request_logs (${quoteAll(LOG_COLUMNS)}, ended_at)
  select ${quoteAll(LOG_COLUMNS)},
    date_trunc('milliseconds', at + total_ms * interval '1 millisecond') from record
  on conflict do nothing
),
fresh as (
  insert into usage_records (${USAGE_COLUMNS.join(', ')}) select ${USAGE_COLUMNS.join(', ')} from record
  on conflict do nothing returning id
),
counted as materialized (
  select record.*, latency_slot(total_ms) as slot, span, bucket
  from record left join organizations o on o.id = org_id, usage_buckets(at, o.time_zone)
  where record.id in (select id from fresh)
),
added as (${addToUsage('counted')})
${addToEndUserUsage('counted')}`

/**
 * Writes records to the request log and the usage ledger. A record that is there already is left alone, so a replay
 * of the journal counts once. Resolves when all but the rejected are durable: the caller deletes its journal segment
 * then, so synchronous_commit stays on. One fsync a batch is cheap.
 *
 * A record that PostgreSQL refuses is stored in its reduced form, which `onReduced` is called with: whose it is, its tokens and
 * its cost count. One that it refuses in that form too comes back as rejected. Neither holds up the others; the error of
 * a database that is out of reach or out of order rejects the whole, to be tried again.
 */
export async function insertRequestRecords(
  pool: Pool,
  records: readonly RecordLine[],
  onReduced: (id: string, reason: string) => void = () => {},
): Promise<{ rejected: RejectedRecord[] }> {
  const rejected: RejectedRecord[] = []
  const days = new Set<string>()
  const dated = records.filter(line => {
    const day = dayOf(line.at)
    if (day === undefined) {
      rejected.push({ id: line.id, reason: 'at is not a time in ISO 8601, UTC, milliseconds', line })
    } else days.add(day)
    return day !== undefined
  })
  if (dated.length > 0) {
    await createPartitions(pool, days)
    await insertAll(pool, dated, { rejected, onReduced })
  }
  return { rejected }
}

/** What becomes of records that are refused. */
interface Refusals {
  readonly rejected: RejectedRecord[]
  readonly onReduced: (id: string, reason: string) => void
}

/** Halves the batch until the records at fault stand alone: a few statements more, not one a record. */
async function insertAll(pool: Pool, records: readonly RecordLine[], refusals: Refusals): Promise<void> {
  const refusal = await insertBatch(pool, records)
  if (refusal === undefined) return
  const [record] = records
  if (record !== undefined && records.length === 1)
    return await insertReduced(pool, record, refusal, refusals)
  const middle = Math.ceil(records.length / 2)
  await insertAll(pool, records.slice(0, middle), refusals)
  await insertAll(pool, records.slice(middle), refusals)
}

async function insertReduced(
  pool: Pool,
  record: RecordLine,
  refusal: string,
  { rejected, onReduced }: Refusals,
): Promise<void> {
  const reduced = toReducedLine(record)
  const isRefused = reduced === undefined || (await insertBatch(pool, [reduced])) !== undefined
  if (isRefused) rejected.push({ id: record.id, reason: refusal, line: record })
  else onReduced(record.id, refusal)
}

/** Returns why the database refuses one of the records, in which case none of them is stored. */
async function insertBatch(pool: Pool, records: readonly RecordLine[]): Promise<string | undefined> {
  try {
    const json = toStorableJson(`[${records.map(record => record.json).join()}]`)
    await pool.query({ name: 'insert_request_records', text: INSERT, values: [json] })
    return undefined
  } catch (error) {
    if (!isDataError(error)) throw error
    return `${error.code}: ${error.message}`
  }
}

/** Classes 22 (data exception), 23 (constraint) and 54 (past a limit): the record is at fault. */
function isDataError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(22|23|54)/.test(error.code ?? '')
}

/**
 * The JSON with NUL and lone surrogates replaced by U+FFFD: a body may contain them, PostgreSQL's text cannot. In JSON
 * text both are written as escapes; whole pairs are not. An escaped backslash does not begin such an escape.
 */
export function toStorableJson(json: string): string {
  if (!json.includes('\\u')) return json
  return json.replace(/\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g, escape =>
    escape === '\\\\' ? escape : '\ufffd',
  )
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** The UTC day of a record's time, such as `2026-11-21`; undefined if the time is invalid. */
function dayOf(at: string): string | undefined {
  const day = ISO_TIME.exec(at)?.[1]
  // The pattern also matches days that do not exist, such as 2026-02-30.
  return day !== undefined && isDay(day) ? day : undefined
}

function isDay(day: string): boolean {
  const [year, month, date] = [Number(day.slice(0, 4)), Number(day.slice(5, 7)), Number(day.slice(8))]
  return month >= 1 && month <= 12 && date >= 1 && date <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}
