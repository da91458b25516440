import { api, type Resource, unwrap } from '../../api/client.ts'
import { toDateTime, toDay } from '../../format/times.ts'

export type Usage = Resource<'Usage'>

const HOUR_MS = 3_600_000
const QUARTER_MS = HOUR_MS / 4
const DAY_MS = 24 * HOUR_MS
export const TIME_RANGES = {
  '24h': {
    label: 'Last 24 hours',
    words: 'the last 24 hours',
    ms: DAY_MS,
    bucketMs: HOUR_MS,
    granularity: 'hour',
  },
  '7d': {
    label: 'Last 7 days',
    words: 'the last 7 days',
    ms: 7 * DAY_MS,
    bucketMs: DAY_MS,
    granularity: 'day',
  },
  '30d': {
    label: 'Last 30 days',
    words: 'the last 30 days',
    ms: 30 * DAY_MS,
    bucketMs: DAY_MS,
    granularity: 'day',
  },
} as const
export type TimeRange = keyof typeof TIME_RANGES

/** More rows than any of these queries returns. */
const MAX_ROWS = 10_000

interface UsageFilter {
  /** The app's own id of an end user. */
  readonly end_user_id?: string
}

/** Loads the environment's usage in the range by hour or day of the organization's time zone. */
export async function loadUsage(
  envId: string,
  range: TimeRange,
  now: number,
  filter: UsageFilter = {},
): Promise<Usage[]> {
  return await load(envId, range, now, { granularity: TIME_RANGES[range].granularity, ...filter })
}

/**
 * Loads the usage of the whole range, because its percentiles cannot be computed from those of the buckets. The sandbox has a row of
 * its own: the row with more requests is returned.
 */
export async function loadTotal(envId: string, range: TimeRange, now: number): Promise<Usage | undefined> {
  const rows = await load(envId, range, now, { granularity: 'total' })
  return rows.toSorted((a, b) => b.requests - a.requests)[0]
}

/** Loads the usage of the whole range by model. Rows by day would be thirty times as many. */
export async function loadByModel(envId: string, range: TimeRange, now: number): Promise<Usage[]> {
  return await load(envId, range, now, { granularity: 'total', group_by: 'model' })
}

async function load(
  envId: string,
  range: TimeRange,
  now: number,
  others: UsageFilter & { granularity: 'hour' | 'day' | 'total'; group_by?: 'model' },
): Promise<Usage[]> {
  const from = new Date(now - TIME_RANGES[range].ms).toISOString()
  const query = { from, to: new Date(now).toISOString(), rows: MAX_ROWS, ...others }
  const { data } = await unwrap(
    api.GET('/v1/environments/{envId}/usage', { params: { path: { envId }, query } }),
  )
  return data
}

export interface Bucket {
  readonly label: string
  /** Its start, in Unix milliseconds. */
  readonly at: number
  /** The start of the next one, or now. A day on which the clocks change has 23 or 25 hours. */
  readonly end: number
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  /** Excludes the sandbox's fictitious prices. */
  readonly costUsd: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** Returns every bucket of the range. One without requests has zero counts and null percentiles. */
export function toBuckets(rows: readonly Usage[], range: TimeRange, now: number, timeZone: string): Bucket[] {
  const { ms, bucketMs } = TIME_RANGES[range]
  const isHour = bucketMs === HOUR_MS
  const labelOf = (at: number): string =>
    isHour ? (toDateTime(at, timeZone).split(', ')[1]?.slice(0, 5) ?? '') : toDay(at, timeZone)
  // In zones such as India's, +5:30, hours do not start at the hours of UTC.
  const shiftMs = minutesPast(now, timeZone) * 60_000 - (Math.floor(now / 60_000) % 60) * 60_000
  const keyOf = (at: number): string =>
    isHour ? String(Math.floor((at + shiftMs) / HOUR_MS)) : toDay(at, timeZone)
  const byKey = groupRows(rows, ({ bucket }) => keyOf(Date.parse(bucket)))
  const starts = new Map<string, number>()
  // Steps of a whole day could skip the day on which the clocks go forward.
  for (let at = now - ms; at <= now; at += bucketMs / 2) {
    const key = keyOf(at)
    if (!starts.has(key))
      starts.set(key, isHour ? at - ((at + shiftMs) % HOUR_MS) : findDayStart(at, timeZone))
  }
  const ends = [...starts.values()].slice(1)
  return [...starts].map(([key, at], index) => ({
    label: labelOf(at),
    at,
    end: ends[index] ?? now,
    ...toFigures(byKey.get(key) ?? []),
  }))
}

/** Returns when the day of the zone began, in Unix milliseconds. All zones change their clocks at whole quarters of an hour. */
function findDayStart(at: number, timeZone: string): number {
  const day = toDay(at, timeZone)
  let first = Math.floor(at / QUARTER_MS)
  // No day has more than 25 hours.
  let before = first - 25 * 4 - 1
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2)
    if (toDay(middle * QUARTER_MS, timeZone) === day) first = middle
    else before = middle
  }
  return first * QUARTER_MS
}

function minutesPast(at: number, timeZone: string): number {
  return Number(toDateTime(at, timeZone).split(', ')[1]?.slice(3, 5) ?? 0)
}

function toFigures(rows: readonly Usage[]): Omit<Bucket, 'label' | 'at' | 'end'> {
  // Percentiles cannot be added up, so the row with the most requests represents the bucket.
  const main = rows.toSorted((a, b) => b.requests - a.requests)[0]
  return {
    ...toTotals(rows),
    p50Ms: main?.latency_ms_p50 ?? null,
    p95Ms: main?.latency_ms_p95 ?? null,
  }
}

export function groupRows<Key>(rows: readonly Usage[], keyOf: (row: Usage) => Key): Map<Key, Usage[]> {
  const groups = new Map<Key, Usage[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

export interface Totals {
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  readonly costUsd: number
  readonly unpriced: number
}

export function toTotals(rows: readonly Usage[]): Totals {
  const sum = (of: (row: Usage) => number): number => rows.reduce((total, row) => total + of(row), 0)
  return {
    requests: sum(row => row.requests),
    errors: sum(row => row.errors),
    tokens: sum(row => row.input_tokens + row.output_tokens),
    costUsd: sum(row => (row.sandbox ? 0 : (row.cost_usd ?? 0))),
    unpriced: sum(row => (row.sandbox ? 0 : row.unpriced_requests)),
  }
}
