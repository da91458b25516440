import { sql } from 'kysely'
import type { Page } from './page.ts'
import type { Db } from './pool.ts'
import { LATENCY_COLUMNS, NOBODY } from './usage-rollups.ts'

/** What usage may be told apart by: columns of the rollups. */
export type UsageGroup = 'model' | 'provider' | 'key_id' | 'end_user_id' | 'environment_id'

export interface UsageFilter {
  readonly orgId: string
  /** Absent: all of the organization. */
  readonly below?: { readonly column: 'project_id' | 'environment_id'; readonly id: string }
  /** From the bucket that this falls into, which counts whole, */
  readonly from: Date
  /** to the last that begins before this. */
  readonly to: Date
  /** Hours of UTC; days of the organization's time zone as it was when the request came. */
  readonly granularity: 'hour' | 'day'
  readonly groups: readonly UsageGroup[]
}

/** Sandbox traffic always has rows of its own, since its prices are fictional. */
export interface UsageRow {
  /** Of the groups within a bucket: the same for the same groups. */
  readonly id: string
  readonly bucket: Date
  /** null: the requests have none. Of `filter.groups` only. */
  readonly groups: Readonly<Partial<Record<UsageGroup, string | null>>>
  readonly sandbox: boolean
  readonly requests: number
  readonly errors: number
  readonly unpriced: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly costNanoUsd: number
  /** By slot: see core/latency-histogram.ts. */
  readonly latencies: readonly number[]
}

const HOUR_MS = 3_600_000
const LENGTH_MS = { hour: HOUR_MS, day: 24 * HOUR_MS }
/** How many times longer each span of time is that is read for one page. */
const GROWTH = 4

/**
 * Usage by bucket and group, newest bucket first, from the rollups alone. Read backwards in growing spans until the
 * page is full: a page of many groups touches few buckets.
 */
export async function listUsage(db: Db, filter: UsageFilter, page: Page): Promise<UsageRow[]> {
  const lengthMs = LENGTH_MS[filter.granularity]
  const oldest = filter.from.getTime() - lengthMs + 1
  const newest = page.after === undefined ? Infinity : page.after.at.getTime() + 1
  const rows: UsageRow[] = []
  let end = Math.min(filter.to.getTime(), newest)
  for (let spanMs = lengthMs; end > oldest && rows.length < page.limit; spanMs *= GROWTH) {
    const begin = Math.max(oldest, end - spanMs)
    const limit = page.limit - rows.length
    rows.push(...(await listSpan(db, filter, new Date(begin), new Date(end), { ...page, limit })))
    end = begin
  }
  return rows
}

/** Buckets that begin at `begin` or later and before `end`. */
async function listSpan(
  db: Db,
  { orgId, granularity, groups, below }: UsageFilter,
  begin: Date,
  end: Date,
  page: Page,
): Promise<UsageRow[]> {
  const columns = [sql.ref('sandbox'), ...groups.map(group => sql.ref(group))]
  const table = groups.includes('end_user_id') ? 'end_user_rollups' : 'usage_rollups'
  const { rows } = await sql<Omit<UsageRow, 'groups'> & Record<UsageGroup, string>>`
    select * from (
      select bucket, md5(row(${sql.join(columns)})::text)::uuid as id, ${sql.join(columns)},
        sum(requests)::bigint as requests, sum(errors)::bigint as errors, sum(unpriced)::bigint as unpriced,
        sum(uncached_input_tokens + cache_read_tokens + cache_write_tokens)::bigint as "inputTokens",
        sum(output_tokens + reasoning_tokens)::bigint as "outputTokens",
        sum(cache_read_tokens)::bigint as "cachedTokens", sum(cost_nano_usd)::bigint as "costNanoUsd",
        array[${sql.join(LATENCY_COLUMNS.map(column => sql`sum(${sql.ref(column)})::float8`))}] as latencies
      from ${sql.table(table)}
      where org_id = ${orgId} and span = ${granularity} and bucket >= ${begin} and bucket < ${end}
        ${below === undefined ? sql`` : sql`and ${sql.ref(below.column)} = ${below.id}`}
      group by bucket, ${sql.join(columns)}
    ) as usage
    where ${page.after === undefined ? sql`true` : sql`(bucket, id) < (${page.after.at}, ${page.after.id}::uuid)`}
    order by bucket desc, id desc
    limit ${page.limit}`.execute(db)
  return rows.map(row => ({
    ...row,
    groups: Object.fromEntries(groups.map(group => [group, isPresent(row[group]) ? row[group] : null])),
  }))
}

/** A rollup's key has no nulls: see usage-rollups.ts. */
function isPresent(value: string): boolean {
  return value !== '' && value !== NOBODY
}
