import { answerOf, api, type Resource } from '../../api/client.ts'
import { toDay, toDateTime } from '../../format/times.ts'

export type Usage = Resource<'Usage'>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
export const SPANS = {
  '24h': { label: 'Last 24 hours', words: '24 hours', ms: DAY_MS, bucketMs: HOUR_MS, granularity: 'hour' },
  '7d': { label: 'Last 7 days', words: '7 days', ms: 7 * DAY_MS, bucketMs: DAY_MS, granularity: 'day' },
  '30d': { label: 'Last 30 days', words: '30 days', ms: 30 * DAY_MS, bucketMs: DAY_MS, granularity: 'day' },
} as const
export type Span = keyof typeof SPANS

/** A page has 100 rows at most; what is summed by model may take several. */
const MOST_PAGES = 10

/** Loads all rows of the environment's usage in the time. */
export async function loadUsage(envId: string, span: Span, now: number, groupBy?: 'model'): Promise<Usage[]> {
  const { ms, granularity } = SPANS[span]
  const query = {
    from: new Date(now - ms).toISOString(),
    to: new Date(now).toISOString(),
    granularity,
    limit: 100,
    ...(groupBy === undefined ? {} : { group_by: groupBy }),
  }
  const rows: Usage[] = []
  let cursor: string | null = null
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer: { data: Usage[]; next_cursor: string | null } = await answerOf(
      api.GET('/v1/environments/{envId}/usage', {
        params: { path: { envId }, query: cursor === null ? query : { ...query, cursor } },
      }),
    )
    rows.push(...answer.data)
    cursor = answer.next_cursor
    if (cursor === null) break
  }
  return rows
}

export interface Bucket {
  readonly label: string
  /** Its start, in Unix milliseconds. */
  readonly at: number
  readonly requests: number
  readonly errors: number
  readonly tokens: number
  /** Without the sandbox's fictitious prices. */
  readonly costUsd: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** One bucket after the other, also those without a request: counts are zero there, percentiles are gaps. */
export function toBuckets(rows: readonly Usage[], span: Span, now: number, timeZone: string): Bucket[] {
  const { ms, bucketMs } = SPANS[span]
  const labelOf = (at: number): string =>
    bucketMs === HOUR_MS ? (toDateTime(at, timeZone).split(', ')[1]?.slice(0, 5) ?? '') : toDay(at, timeZone)
  const keyOf = (at: number): string =>
    bucketMs === HOUR_MS ? String(Math.floor(at / HOUR_MS)) : toDay(at, timeZone)
  const byKey = groupRows(rows, ({ bucket }) => keyOf(Date.parse(bucket)))
  const buckets = new Map<string, Bucket>()
  for (let at = now - ms; at <= now; at += bucketMs) {
    const key = keyOf(at)
    const found = byKey.get(key) ?? []
    const start = found[0] === undefined ? at - (at % HOUR_MS) : Date.parse(found[0].bucket)
    buckets.set(key, toBucket(found, labelOf(start), start))
  }
  return [...buckets.values()]
}

function toBucket(rows: readonly Usage[], label: string, at: number): Bucket {
  // Percentiles cannot be added: the row with most requests stands for the bucket.
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
