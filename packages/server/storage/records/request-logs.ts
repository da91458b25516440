import { DatabaseError, type Pool } from 'pg'
import { toReducedLine } from '../../core/records/record-line.ts'
import type { RecordLine } from '../../core/records/request-record.ts'
import { createPartitions } from './partitions.ts'
import { encodeBatch } from './record-batch.ts'
import { UnstorableValue } from './storable.ts'
import { storeOnce } from './store-batch.ts'

const CHECK_VIOLATION = '23514'
/** A day that has no partition after so many attempts has a table of its name that is none. */
const MAX_ATTEMPTS = 3

export interface RejectedRecord {
  readonly id: string
  readonly reason: string
  /** The line as the caller passed it. */
  readonly line: RecordLine
}

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
interface Rejections {
  readonly rejected: RejectedRecord[]
  readonly onReduced: (id: string, reason: string) => void
}

/** Halves the batch until the records at fault stand alone: a few statements more, not one a record. */
async function insertAll(pool: Pool, records: readonly RecordLine[], rejections: Rejections): Promise<void> {
  const refusal = await insertBatch(pool, records)
  if (refusal === undefined) return
  const [record] = records
  if (record !== undefined && records.length === 1)
    return await insertReduced(pool, record, refusal, rejections)
  const middle = Math.ceil(records.length / 2)
  await insertAll(pool, records.slice(0, middle), rejections)
  await insertAll(pool, records.slice(middle), rejections)
}

async function insertReduced(
  pool: Pool,
  record: RecordLine,
  refusal: string,
  { rejected, onReduced }: Rejections,
): Promise<void> {
  const reduced = toReducedLine(record)
  const isRefused = reduced === undefined || (await insertBatch(pool, [reduced])) !== undefined
  if (isRefused) rejected.push({ id: record.id, reason: refusal, line: record })
  else onReduced(record.id, refusal)
}

/**
 * Returns why the database refuses one of the records, in which case none of them is stored. Retention may drop the partition of an
 * old day at any moment before: it is made again.
 */
async function insertBatch(pool: Pool, records: readonly RecordLine[]): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      await storeOnce(pool, await encodeBatch(records))
      return undefined
    } catch (error) {
      if (!isDataError(error)) throw error
      if (!isMissingPartition(error) || tries === MAX_ATTEMPTS) return `${error.code}: ${error.message}`
      await createPartitions(pool, new Set(records.map(({ at }) => dayOf(at) as string)))
    }
  }
}

/** True if a row belongs to no partition, the only failed check that has no constraint. */
function isMissingPartition(error: DatabaseError | UnstorableValue): boolean {
  return error instanceof DatabaseError && error.code === CHECK_VIOLATION && error.constraint === undefined
}

/** Classes 22 (data exception), 23 (constraint) and 54 (past a limit): the record is at fault. */
export function isDataError(error: unknown): error is DatabaseError | UnstorableValue {
  if (error instanceof UnstorableValue) return true
  return error instanceof DatabaseError && /^(22|23|54)/.test(error.code ?? '')
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** The UTC day of a record's time, such as `2026-11-21`; undefined if the time is invalid. */
export function dayOf(at: string): string | undefined {
  const day = ISO_TIME.exec(at)?.[1]
  // The pattern also matches days that do not exist, such as 2026-02-30.
  return day !== undefined && isDay(day) ? day : undefined
}

function isDay(day: string): boolean {
  const [year, month, date] = [Number(day.slice(0, 4)), Number(day.slice(5, 7)), Number(day.slice(8))]
  return month >= 1 && month <= 12 && date >= 1 && date <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}
