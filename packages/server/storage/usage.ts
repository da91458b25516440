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
  /** Inclusive, exclusive. A rollup counts where its quarter of an hour begins within. */
  readonly from: Date
  readonly to: Date
  readonly granularity: 'hour' | 'day'
  /** Whose days are meant. */
  readonly timeZone: string
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
/** A day may have 25 hours. */
const LONGEST_MS = { hour: HOUR_MS, day: 25 * HOUR_MS }

/** Usage by bucket and group, newest bucket first, from the rollups alone. */
export async function listUsage(db: Db, filter: UsageFilter, page: Page): Promise<UsageRow[]> {
  const { granularity, groups, below } = filter
  const columns = [sql.ref('sandbox'), ...groups.map(group => sql.ref(group))]
  const table = groups.includes('end_user_id') ? 'end_user_rollups' : 'usage_rollups'
  const zone = granularity === 'day' ? filter.timeZone : 'UTC'
  // Later buckets were on the pages before: they need not be added up again.
  const most = page.after === undefined ? Infinity : page.after.at.getTime() + LONGEST_MS[granularity]
  const to = new Date(Math.min(filter.to.getTime(), most))
  const { rows } = await sql<Omit<UsageRow, 'groups'> & Record<UsageGroup, string>>`
    select * from (
      select date_trunc(${granularity}, r.bucket, ${zone}) as bucket,
        md5(row(${sql.join(columns)})::text)::uuid as id, ${sql.join(columns)},
        sum(requests)::bigint as requests, sum(errors)::bigint as errors, sum(unpriced)::bigint as unpriced,
        sum(uncached_input_tokens + cache_read_tokens + cache_write_tokens)::bigint as "inputTokens",
        sum(output_tokens + reasoning_tokens)::bigint as "outputTokens",
        sum(cache_read_tokens)::bigint as "cachedTokens", sum(cost_nano_usd)::bigint as "costNanoUsd",
        array[${sql.join(LATENCY_COLUMNS.map(column => sql`sum(${sql.ref(column)})::float8`))}] as latencies
      from ${sql.table(table)} r
      where org_id = ${filter.orgId} and r.bucket >= ${filter.from} and r.bucket < ${to}
        ${below === undefined ? sql`` : sql`and ${sql.ref(below.column)} = ${below.id}`}
      group by 1, ${sql.join(columns)}
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
