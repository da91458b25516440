import { createHash } from 'node:crypto'
import { toLine } from '@rideau/llm/request/bounded-text'
import { countJsonBytes, cutText, cutToJsonBytes, takeChars } from './cut-text.ts'
import type { AttemptRecord, LineWithRecord, RecordLine, RequestRecord } from './request-record.ts'

/** The largest record in the journal, in memory and in the database, in bytes of its JSON in UTF-8. */
export const MAX_RECORD_BYTES = 64 * 1024
/** The largest record, in bytes, of a request that was refused before it reached a provider: refused callers pay nothing for their records. */
export const MAX_REFUSAL_BYTES = 8 * 1024
/** The limit of each captured body. */
export const MAX_BODY_CHARS = 32 * 1024
/** The bytes of a body that a record may need. A longer body has more than MAX_BODY_CHARS within them, so the cut is marked. */
const MAX_BODY_BYTES = 4 * MAX_BODY_CHARS

/** Returns the text of a body, of a long one only as much as a record keeps. */
export function toCapturedText(body: Buffer): string {
  return body.toString('utf8', 0, Math.min(body.length, MAX_BODY_BYTES))
}

/** Returns the bytes of a body that toCapturedText reads, without holding the memory of the others. */
export function takeCaptured(body: Buffer): Buffer {
  return body.length <= MAX_BODY_BYTES ? body : Buffer.from(body.subarray(0, MAX_BODY_BYTES))
}

/** Limits of the other texts, in characters. An index row with the longest texts stays below PostgreSQL's 2,704 bytes. */
const MAX_CHARS = {
  end_user_id: 255,
  model_requested: 512,
  user: 256,
  // Includes the provider.
  model: 544,
  provider: 32,
  finish_reason: 64,
  error_code: 64,
  provider_message: 512,
  endpoint: 64,
  surface: 64,
} as const
type BoundedField = keyof typeof MAX_CHARS
const BOUNDED_FIELDS = Object.keys(MAX_CHARS) as BoundedField[]

const MAX_ATTEMPTS = 16
/** The number that is kept if the record is too large. */
const FEW_ATTEMPTS = 4
const SHORT_LINE_CHARS = 4096
/** The least space for captured bodies, in bytes. */
const BODY_ROOM = 256

/**
 * Returns the line of a record with any content. Texts that are too long are cut with a marker, never within a surrogate
 * pair. The line takes at most MAX_RECORD_BYTES, and for a refused request at most MAX_REFUSAL_BYTES.
 */
export function toRecordLine(record: RequestRecord): RecordLine {
  const { id, at, json } = toLineWithRecord(record)
  return { id, at, json }
}

/** Returns the record's line, with the record it was made from if that is short. */
export function toLineWithRecord(record: RequestRecord): LineWithRecord {
  return toLineWithin(record, isRefusal(record) ? MAX_REFUSAL_BYTES : MAX_RECORD_BYTES)
}

/**
 * Returns the line for a journal with little space: at most MAX_REFUSAL_BYTES, without bodies, and if nothing is billed also
 * without metadata and most attempts.
 */
export function toBriefLine(record: RequestRecord): LineWithRecord {
  return toLineWithin(isUnbilled(record) ? toSmall(record) : withoutBodies(record), MAX_REFUSAL_BYTES)
}

function toLineWithin(record: RequestRecord, most: number): LineWithRecord {
  // A character takes at least a byte, so nothing that could be kept is cut here, and less is encoded to find out how much fits.
  const maxBody = Math.min(most, MAX_BODY_CHARS)
  const bounded = hasBoundedFields(record, maxBody) ? record : boundFields(record, maxBody)
  const json = mayFit(bounded, most) ? JSON.stringify(bounded) : undefined
  if (json === undefined || !isWithin(json, most))
    return { id: record.id, at: record.at, json: JSON.stringify(shrink(bounded, most)), record: undefined }
  const isShortLine = json.length <= SHORT_LINE_CHARS
  return { id: record.id, at: record.at, json, record: isShortLine ? bounded : undefined }
}

/** False if the long parts of a record have more characters than it may have bytes, so that encoding it would only show that it is too large. */
function mayFit({ request_body, response_body, metadata }: RequestRecord, most: number): boolean {
  return (request_body?.length ?? 0) + (response_body?.length ?? 0) + countChars(metadata) <= most
}

function countChars(metadata: RequestRecord['metadata']): number {
  let chars = 0
  for (const name in metadata) chars += name.length + (metadata[name]?.length ?? 0)
  return chars
}

function isWithin(json: string, bytes: number): boolean {
  // A character takes at most three bytes.
  return json.length * 3 <= bytes || (json.length <= bytes && Buffer.byteLength(json) <= bytes)
}

/** True if the request was refused before it reached a provider, so it cost nothing. */
export function isRefusal(record: RequestRecord): boolean {
  return (
    record.status >= 400 &&
    record.attempts.length === 0 &&
    (record.cost_nano_usd ?? 0) === 0 &&
    hasNoUsage(record)
  )
}

/**
 * True if nothing was answered and nothing is billed: a refusal, or what every provider rejected. After an attempt an unknown
 * cost may be one. Answers of the sandbox are not unbilled: their fictitious cost counts in budgets, and callers find every answer in the log.
 */
export function isUnbilled(record: RequestRecord): boolean {
  return isRefusal(record) || (record.status >= 400 && record.cost_nano_usd === 0 && hasNoUsage(record))
}

function hasNoUsage(record: RequestRecord): boolean {
  return (
    record.uncached_input_tokens + record.cache_read_tokens + record.cache_write_tokens === 0 &&
    record.output_tokens + record.reasoning_tokens === 0
  )
}

/**
 * Returns the smallest form of a record that the database refused: owner, time, tokens and cost, with short names of plain
 * text that every database accepts. Returns undefined if the line is not a record.
 */
export function toReducedLine(line: RecordLine): RecordLine | undefined {
  let record: RequestRecord | undefined
  try {
    record = parseRecord(line.json)
  } catch {
    return undefined
  }
  if (record === undefined) return undefined
  const reduced = { ...withoutExtras(record), attempts: [] }
  for (const name of BOUNDED_FIELDS) {
    const text = reduced[name]
    if (typeof text === 'string') reduced[name] = toShortName(toLine(text))
  }
  return { id: line.id, at: line.at, json: JSON.stringify(reduced) }
}

/**
 * Returns the line of a record for which toRecordLine throws: its own numbers, short texts and the like, without attempts,
 * metadata and bodies. Never throws. A value that JSON cannot hold is left out.
 */
export function toSalvagedLine(record: RequestRecord): RecordLine {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(record) as (keyof RequestRecord)[]) {
    try {
      kept[name] = toPlainValue(record[name])
    } catch {
      // A getter that throws.
    }
  }
  kept.attempts = []
  const { id, at } = kept
  return {
    id: typeof id === 'string' ? id : '',
    at: typeof at === 'string' ? at : '',
    json: JSON.stringify(kept),
  }
}

function toPlainValue(value: unknown): unknown {
  if (typeof value === 'string') return toShortName(toLine(value))
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

/** Parses a line. A line that is not a record gets an empty id, so the database refuses it and it is set aside. */
export function parseRecordLine(json: string): RecordLine {
  const isSmall = isWithin(json, MAX_RECORD_BYTES)
  const head = isSmall ? HEAD.exec(json) : null
  if (head !== null) return { id: head[1] as string, at: head[2] as string, json }
  try {
    const record = parseRecord(json)
    // An earlier version may have written a larger record than today's limit.
    if (record !== undefined) return isSmall ? { id: record.id, at: record.at, json } : toRecordLine(record)
  } catch {
    // Neither JSON nor the shape of a record.
  }
  return { id: '', at: '', json: cutText(json, MAX_BODY_CHARS) }
}

/** `id` and `at` are the first fields of a record, so they can be read without parsing the whole line. */
const HEAD = /^\{"id":"([^"\\]*)","at":"([^"\\]*)"/

/** Returns undefined if the JSON is not a record. Throws if the text is not JSON. */
function parseRecord(json: string): RequestRecord | undefined {
  const { id, at = '', ...rest } = JSON.parse(json) as RequestRecord
  return typeof id === 'string' && typeof at === 'string' ? { id, at, ...rest } : undefined
}

function hasBoundedFields(record: RequestRecord, maxBody: number): boolean {
  return (
    isShort(record.request_body, maxBody) &&
    isShort(record.response_body, maxBody) &&
    isShort(record.end_user_id, MAX_CHARS.end_user_id) &&
    isShort(record.model_requested, MAX_CHARS.model_requested) &&
    isShort(record.user, MAX_CHARS.user) &&
    isShort(record.model, MAX_CHARS.model) &&
    isShort(record.provider, MAX_CHARS.provider) &&
    isShort(record.finish_reason, MAX_CHARS.finish_reason) &&
    isShort(record.error_code, MAX_CHARS.error_code) &&
    isShort(record.provider_message, MAX_CHARS.provider_message) &&
    isShort(record.endpoint, MAX_CHARS.endpoint) &&
    isShort(record.surface, MAX_CHARS.surface)
  )
}

function isShort(text: string | null, max: number): boolean {
  return typeof text !== 'string' || text.length <= max
}

function boundFields(record: RequestRecord, maxBody: number): RequestRecord {
  const bounded = { ...record }
  for (const name of BOUNDED_FIELDS) {
    const text = bounded[name]
    if (typeof text === 'string' && text.length > MAX_CHARS[name]) bounded[name] = toShortName(toLine(text))
  }
  if (bounded.request_body !== null) bounded.request_body = cutText(bounded.request_body, maxBody)
  if (bounded.response_body !== null) bounded.response_body = cutText(bounded.response_body, maxBody)
  return bounded
}

const SHORT_NAME = 128
const DIGEST_CHARS = 16

/** Returns a short name. The cut part is replaced by a digest of the whole, so different names stay different. */
function toShortName(name: string): string {
  if (name.length <= SHORT_NAME) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_CHARS)
  return `${takeChars(name, SHORT_NAME - DIGEST_CHARS - 1)}~${digest}`
}

/** Returns the record within `most` bytes: cuts bodies first, then leaves out metadata and all but a few attempts. */
function shrink(record: RequestRecord, most: number): RequestRecord {
  const { request_body, response_body } = record
  let rest: RequestRecord = { ...withoutBodies(record), attempts: record.attempts.slice(0, MAX_ATTEMPTS) }
  if (countChars(rest.metadata) > most || sizeOf(rest) > most - BODY_ROOM) rest = toSmall(record)
  const room = Math.max(0, most - sizeOf(rest))
  const [requestBytes, responseBytes] = shareRoom(jsonBytes(request_body), jsonBytes(response_body), room)
  return {
    ...rest,
    request_body: request_body === null ? null : cutToJsonBytes(request_body, requestBytes),
    response_body: response_body === null ? null : cutToJsonBytes(response_body, responseBytes),
  }
}

/** Returns the record without the parts that have no size limit of their own. */
function toSmall(record: RequestRecord): RequestRecord {
  const small = {
    ...withoutExtras(record),
    attempts: record.attempts.slice(0, FEW_ATTEMPTS).map(boundAttempt),
  }
  for (const name of BOUNDED_FIELDS) {
    const text = small[name]
    if (typeof text === 'string') small[name] = toLine(text)
  }
  return small
}

function boundAttempt(attempt: AttemptRecord): AttemptRecord {
  const { provider, model, credential_id, error } = attempt
  return {
    ...attempt,
    provider: toShortName(toLine(provider)),
    model: toShortName(toLine(model)),
    credential_id: toShortName(toLine(credential_id)),
    error: error === null ? null : toShortName(toLine(error)),
  }
}

function withoutExtras(record: RequestRecord): RequestRecord {
  return { ...withoutBodies(record), metadata: null, dropped_params: null, checked_limits: null }
}

function withoutBodies(record: RequestRecord): RequestRecord {
  return { ...record, request_body: null, response_body: null }
}

function sizeOf(record: RequestRecord): number {
  return Buffer.byteLength(JSON.stringify(record))
}

function jsonBytes(text: string | null): number {
  return text === null ? 0 : countJsonBytes(text)
}

/** Splits `room` in halves; if one part needs less than half, the other gets the rest. */
function shareRoom(one: number, other: number, room: number): [number, number] {
  const half = Math.floor(room / 2)
  if (one <= half) return [one, room - one]
  return other <= half ? [room - other, other] : [half, half]
}
