import type { RequestRecord } from '../core/request-record.ts'
import { booleanField, FieldEncoder, numberField, UnstorableValue } from './copy-text.ts'
import { RecordTimes } from './record-times.ts'

/** Columns of both tables, named as the record's fields, in the order of `toUsageRow`. */
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

/** What the log has besides, without what is large, in the order of `toLogRest`. */
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

/** The columns of a row of each table, as SQL. `user` is a word of SQL. */
export const USAGE_LIST = USAGE_COLUMNS.join(', ')
export const LOG_LIST = [
  ...LOG_SUMMARY_COLUMNS,
  'metadata',
  'dropped_params',
  'checked_limits',
  'request_body',
  'response_body',
  'ended_at',
]
  .map(name => `"${name}"`)
  .join(', ')

/** Spelled out: properties read by a variable name are slow, and this runs for each request. Joined, which gives flat texts. */
function toUsageRow(r: RequestRecord, fields: FieldEncoder): string {
  return [
    fields.form(r.id),
    fields.form(r.at),
    fields.form(r.org_id),
    fields.form(r.project_id),
    fields.form(r.environment_id),
    fields.form(r.key_id),
    fields.text(r.end_user_id),
    fields.text(r.endpoint),
    fields.text(r.provider),
    fields.text(r.model),
    numberField(r.status),
    numberField(r.uncached_input_tokens),
    numberField(r.cache_read_tokens),
    numberField(r.cache_write_tokens),
    numberField(r.output_tokens),
    numberField(r.reasoning_tokens),
    booleanField(r.usage_estimated),
    numberField(r.cost_nano_usd),
    booleanField(r.sandbox),
  ].join('\t')
}

/** What the log's row has behind the columns of a usage record. Begins with a tab. */
function toLogRest(r: RequestRecord, attempts: string, endedAt: string, fields: FieldEncoder): string {
  return [
    '',
    fields.form(r.request_id),
    numberField(r.hold_tokens),
    numberField(r.hold_nano_usd),
    numberField(r.output_cap),
    fields.text(r.surface),
    fields.text(r.model_requested),
    fields.text(r.user),
    booleanField(r.stream),
    fields.text(r.error_code),
    fields.text(r.provider_message),
    fields.text(r.finish_reason),
    numberField(r.queue_ms),
    numberField(r.first_byte_ms),
    numberField(r.total_ms),
    attempts,
    fields.json(r.metadata),
    fields.json(r.dropped_params),
    fields.json(r.checked_limits),
    fields.text(r.request_body),
    fields.text(r.response_body),
    endedAt,
  ].join('\t')
}

/** A record's rows in PostgreSQL's text format of COPY, without the ends of their lines. */
export interface RecordRows {
  readonly usage: string
  /** What the log's row has behind it. */
  readonly logRest: string
}

const PLAIN = new FieldEncoder(true)
const ESCAPING = new FieldEncoder(false)

/** Throws an UnstorableValue only, so that no record holds up the others. */
export class RecordEncoder {
  readonly #times = new RecordTimes()

  /** Encodes the record of a line. */
  encode(record: RequestRecord, json: string): RecordRows {
    return this.#encode(record, json, fields => fields.json(record.attempts))
  }

  /** The same for a record of this process, from which the JSON was made. */
  encodeKept(record: RequestRecord, json: string): RecordRows {
    return this.#encode(record, json, fields => attemptsField(json, fields))
  }

  #encode(record: RequestRecord, json: string, toAttempts: (fields: FieldEncoder) => string): RecordRows {
    try {
      const fields = json.includes('\\') ? ESCAPING : PLAIN
      const usage = toUsageRow(record, fields)
      const logRest = toLogRest(record, toAttempts(fields), endOf(record, this.#times), fields)
      return { usage, logRest }
    } catch (error) {
      throw toUnstorable(error)
    }
  }
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
function attemptsField(json: string, fields: FieldEncoder): string {
  const begin = json.indexOf(ATTEMPTS)
  const end = json.indexOf(METADATA, begin)
  if (begin < 0 || end < 0) return fields.json((JSON.parse(json) as RequestRecord).attempts)
  return fields.writtenJson(json.slice(begin + ATTEMPTS.length, end))
}

/** When the request ended, in whole milliseconds. A record without a duration has none, which the database refuses. */
function endOf({ at, total_ms }: RequestRecord, times: RecordTimes): string {
  const end = times.toMs(at) + Math.trunc(Math.fround(total_ms))
  return typeof total_ms === 'number' && Number.isFinite(end) ? times.toIso(end) : '\\N'
}
