import { api, type Resource, unwrap } from '../../api/client.ts'
import { toDateTime, toDay } from '../../format/times.ts'

export type Usage = Resource<'Usage'>

const HOUR_MS = 3_600_000
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
  const labelOf = (at: number): string =>
    bucketMs === HOUR_MS ? (toDateTime(at, timeZone).split(', ')[1]?.slice(0, 5) ?? '') : toDay(at, timeZone)
  // In zones such as India's, +5:30, hours do not start at the hours of UTC.
  const shiftMs = minutesPast(now, timeZone) * 60_000 - (Math.floor(now / 60_000) % 60) * 60_000
  const keyOf = (at: number): string =>
    bucketMs === HOUR_MS ? String(Math.floor((at + shiftMs) / HOUR_MS)) : toDay(at, timeZone)
  const byKey = groupRows(rows, ({ bucket }) => keyOf(Date.parse(bucket)))
  const buckets = new Map<string, Bucket>()
  // Steps of a whole day could skip the day on which the clocks go forward.
  for (let at = now - ms; at <= now; at += bucketMs / 2) {
    const key = keyOf(at)
    if (buckets.has(key)) continue
    const found = byKey.get(key) ?? []
    const start = found[0] === undefined ? at - ((at + shiftMs) % HOUR_MS) : Date.parse(found[0].bucket)
    buckets.set(key, toBucket(found, labelOf(start), start))
  }
  return [...buckets.values()]
}

function minutesPast(at: number, timeZone: string): number {
  return Number(toDateTime(at, timeZone).split(', ')[1]?.slice(3, 5) ?? 0)
}

function toBucket(rows: readonly Usage[], label: string, at: number): Bucket {
  // Percentiles cannot be added up, so the row with the most requests represents the bucket.
  const main = rows.toSorted((a, b) => b.requests - a.requests)[0]
  return {
    label,
    at,
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
