import type { RequestRecord } from '../../core/records/request-record.ts'
import { RecordTimes } from './record-times.ts'
import { MAX_FIELD_BYTES, MAX_UNIT_BYTES, RowWriter } from './row-writer.ts'
import { toStorableJson, UnstorableValue } from './storable.ts'
import type { TextChunks } from './text-chunks.ts'

/** Columns of both tables, named as the record's fields, in the order of `writeUsage`. */
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

/** What the log has besides, without what is large, in the order of `writeLogRest`. */
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
  'dropped_params',
  'checked_limits',
  'request_body',
  'response_body',
  'ended_at',
]

/** The columns of a row of each table, as SQL, and their number. `user` is a word of SQL. */
export const USAGE_LIST = USAGE_COLUMNS.join(', ')
export const USAGE_FIELDS = USAGE_COLUMNS.length
export const LOG_LIST = LOG_COLUMNS.map(name => `"${name}"`).join(', ')
export const LOG_FIELDS = LOG_COLUMNS.length

/** Spelled out: properties read by a variable name are slow, and this runs for each request. */
function writeUsage(r: RequestRecord, atMs: number, row: RowWriter): void {
  row.uuid(r.id)
  row.timestamp(atMs)
  row.knownUuid(r.org_id)
  row.knownUuid(r.project_id)
  row.knownUuid(r.environment_id)
  row.knownUuid(r.key_id)
  row.text(r.end_user_id)
  row.text(r.endpoint)
  row.text(r.provider)
  row.text(r.model)
  row.int4(r.status)
  row.int4(r.uncached_input_tokens)
  row.int4(r.cache_read_tokens)
  row.int4(r.cache_write_tokens)
  row.int4(r.output_tokens)
  row.int4(r.reasoning_tokens)
  row.boolean(r.usage_estimated)
  row.int8(r.cost_nano_usd)
  row.boolean(r.sandbox)
}

/** What the log's row has behind the columns of a usage record. */
function writeLogRest(r: RequestRecord, jsons: RecordJsons, endMs: number | undefined, row: RowWriter): void {
  row.uuid(r.request_id)
  row.int8(r.hold_tokens)
  row.int8(r.hold_nano_usd)
  row.int8(r.output_cap)
  row.text(r.surface)
  row.text(r.model_requested)
  row.text(r.user)
  row.boolean(r.stream)
  row.text(r.error_code)
  row.text(r.provider_message)
  row.text(r.finish_reason)
  row.float4(r.queue_ms)
  row.float4(r.first_byte_ms)
  row.float4(r.total_ms)
  row.jsonb(jsons.attempts)
  row.jsonb(jsons.metadata)
  row.jsonb(jsons.droppedParams)
  row.jsonb(jsons.checkedLimits)
  row.text(r.request_body)
  row.text(r.response_body)
  row.timestamp(endMs)
}

/** The fields of a record that are JSON in its row too. undefined: null. */
interface RecordJsons {
  readonly attempts: string | undefined
  readonly metadata: string | undefined
  readonly droppedParams: string | undefined
  readonly checkedLimits: string | undefined
}

/** Where the fields of both rows are in the current chunk: those of the log's row begin with those of the usage record's. */
export interface RowPlaces {
  readonly start: number
  readonly usageEnd: number
  readonly logEnd: number
}

/** Writes the fields of a record's rows in PostgreSQL's binary format. Throws an UnstorableValue only, so that no record holds up the others. */
export class RecordEncoder {
  readonly #times = new RecordTimes()
  readonly #row = new RowWriter()

  /** Adds the rows of a line's record to the chunks. */
  encode(record: RequestRecord, json: string, chunks: TextChunks): RowPlaces {
    return this.#encode(record, json, () => toJson(record.attempts), chunks)
  }

  /** Adds the rows of a record of this process to the chunks. `json` was made from the record. */
  encodeKept(record: RequestRecord, json: string, chunks: TextChunks): RowPlaces {
    return this.#encode(record, json, () => attemptsOf(json), chunks)
  }

  #encode(
    record: RequestRecord,
    json: string,
    toAttempts: () => string | undefined,
    chunks: TextChunks,
  ): RowPlaces {
    try {
      // Most records have no escape, and a look at the whole JSON costs less than one at each text.
      this.#row.isPlain = !json.includes('\\')
      const jsons: RecordJsons = {
        attempts: toAttempts(),
        metadata: toJson(record.metadata),
        droppedParams: toJson(record.dropped_params),
        checkedLimits: toJson(record.checked_limits),
      }
      // No text of a row is longer than in the JSON, except texts that are objects there, which may be written again.
      chunks.reserve(LOG_FIELDS * MAX_FIELD_BYTES + (json.length + lengthOf(jsons)) * MAX_UNIT_BYTES)
      const start = chunks.end
      this.#row.moveTo(chunks.current, start)
      if (typeof record.at !== 'string') throw new UnstorableValue('22007', 'at is no time')
      const atMs = this.#times.toMs(record.at)
      writeUsage(record, atMs, this.#row)
      const usageEnd = this.#row.at
      writeLogRest(record, jsons, endOf(atMs, record.total_ms), this.#row)
      // A text that is longer than in the JSON, such as an array of an earlier version, has no room.
      if (this.#row.at > chunks.current.length) throw new UnstorableValue('54000', 'the row is too long')
      chunks.end = this.#row.at
      return { start, usageEnd, logEnd: this.#row.at }
    } catch (error) {
      throw toUnstorable(error)
    }
  }
}

function toJson(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : toStorableJson(JSON.stringify(value))
}

function lengthOf({ attempts, metadata, droppedParams, checkedLimits }: RecordJsons): number {
  const lengths = [attempts, metadata, droppedParams, checkedLimits].map(json => json?.length ?? 0)
  return lengths.reduce((sum, length) => sum + length, 0)
}

/** Throws an UnstorableValue. */
export function parseRecordJson(json: string): RequestRecord {
  try {
    return JSON.parse(json) as RequestRecord
  } catch (error) {
    throw toUnstorable(error)
  }
}

function toUnstorable(error: unknown): UnstorableValue {
  return error instanceof UnstorableValue ? error : new UnstorableValue('22P02', String(error))
}

const ATTEMPTS = ',"attempts":'
const METADATA = ',"metadata":'

/**
 * The attempts of a record of this process as its JSON has them. They are cut out of it, which costs less than to write them again.
 * Within a text of JSON no quotation mark follows a comma: it has a backslash before it. So these are names, and the first of
 * the record, which has no object before its attempts.
 */
function attemptsOf(json: string): string | undefined {
  const begin = json.indexOf(ATTEMPTS)
  const end = json.indexOf(METADATA, begin)
  if (begin < 0 || end < 0) return toJson((JSON.parse(json) as RequestRecord).attempts)
  const attempts = json.slice(begin + ATTEMPTS.length, end)
  return attempts === 'null' ? undefined : toStorableJson(attempts)
}

/** When the request ended, in whole Unix milliseconds. A record without a duration has none, which the database refuses. */
function endOf(atMs: number, totalMs: unknown): number | undefined {
  return typeof totalMs === 'number' && Number.isFinite(totalMs)
    ? atMs + Math.trunc(Math.fround(totalMs))
    : undefined
}
