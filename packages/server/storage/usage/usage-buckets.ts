import { type RawBuilder, sql } from 'kysely'
import { calendarBoundsAt } from '../../core/tenancy/windows.ts'
import type { UsageFilter } from './usage-filter.ts'

/** How rows of the rollups, which are quarters of an hour or days, are summed to the buckets of a filter. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The longest time of which a total counts whole hours; a longer one counts whole days. */
const MAX_MS_BY_HOUR = 8 * DAY_MS

type BucketFilter = Pick<UsageFilter, 'from' | 'to' | 'granularity' | 'timeZone' | 'isByQuarter'>

/** The rows that are read, by their column `span`. Those of `hour` are quarters of an hour. */
export function sourceOf(filter: BucketFilter): 'hour' | 'day' {
  return filter.isByQuarter === true || unitOf(filter) === 'hour' ? 'hour' : 'day'
}

/** The bucket of a row of the rollups. */
export function bucketOf(filter: BucketFilter): RawBuilder<Date> {
  const { granularity } = filter
  if (granularity === 'total') return sql<Date>`${new Date(usageBounds(filter).begin)}::timestamptz`
  // The stored day: the zone of today may not be the one that it was counted in.
  if (isStored(filter)) return sql.ref('bucket')
  return sql<Date>`date_trunc(${granularity}::text, bucket, ${zoneOf(filter)}::text)`
}

/** Times at which buckets begin. */
interface Starts {
  readonly begin: number
  /** Exclusive. */
  readonly end: number
}

export interface UsageBounds extends Starts {
  /** Stored days that begin here ended before `from`. Absent: there are none. */
  readonly gap?: Starts
}

/** Whole buckets: from the start of the one that contains `from` to the end of the last that begins before `to`. */
export function usageBounds(filter: BucketFilter): UsageBounds {
  const { from, to } = filter
  if (isStored(filter)) return { ...storedFrom(from.getTime(), zoneOf(filter)), end: to.getTime() }
  const end = endOfBucket(filter, Math.max(from.getTime(), to.getTime() - 1))
  return { begin: startOfBucket(filter, from.getTime()), end }
}

/**
 * The stored days from the one that contains `at`. A day that begins when one of the time zone does ends with it, after 23 or 25 hours
 * where the clocks are changed. Any other was counted in an earlier time zone of the organization and is taken for 24 hours.
 */
function storedFrom(at: number, timeZone: string): Omit<UsageBounds, 'end'> {
  const { start } = calendarBoundsAt('day', at, timeZone)
  const earliestOther = at - DAY_MS + 1
  if (start < earliestOther) return { begin: start, gap: { begin: start + 1, end: earliestOther } }
  const ended = calendarBoundsAt('day', start - 1, timeZone).start
  return { begin: earliestOther, ...(ended < earliestOther ? {} : { gap: { begin: ended, end: ended + 1 } }) }
}

export function startOfBucket(filter: BucketFilter, at: number): number {
  // A stored day of another zone may begin at any time.
  if (isStored(filter)) return at
  return calendarBoundsAt(unitOf(filter), at, zoneOf(filter)).start
}

export function endOfBucket(filter: BucketFilter, at: number): number {
  if (isStored(filter)) return at + 1
  return calendarBoundsAt(unitOf(filter), at, zoneOf(filter)).end
}

/** The first time span that is read: long enough for a page of one group, in most cases. */
export function spanMsOf({ granularity, from, to }: BucketFilter): number {
  if (granularity === 'hour') return HOUR_MS
  return granularity === 'day' ? DAY_MS : to.getTime() - from.getTime() + 31 * DAY_MS
}

function isStored({ granularity, isByQuarter }: BucketFilter): boolean {
  return granularity === 'day' && isByQuarter !== true
}

/** What counts whole at both ends. */
function unitOf({ granularity, from, to, isByQuarter }: BucketFilter): 'hour' | 'day' | 'month' {
  if (granularity !== 'total') return granularity
  const isShort = to.getTime() - from.getTime() <= MAX_MS_BY_HOUR
  return isShort || isByQuarter === true ? 'hour' : 'day'
}

function zoneOf({ timeZone }: BucketFilter): string {
  return timeZone ?? 'UTC'
}
