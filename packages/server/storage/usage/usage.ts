import { type RawBuilder, sql } from 'kysely'
import type { Page } from '../page.ts'
import type { Db } from '../pool.ts'
import { ABSENT_ID, FIRST_BYTE_COLUMNS, LATENCY_COLUMNS } from '../records/usage-rollups.ts'
import { bucketOf, endOfBucket, sourceOf, spanMsOf, startOfBucket, usageBounds } from './usage-buckets.ts'
import type { UsageFilter, UsageGroup } from './usage-filter.ts'

/** Usage of one group in one bucket. Sandbox requests, whose prices are fictional, have rows of their own. */
export interface UsageRow {
  /** Identifies the group: equal for the same group in every bucket. */
  readonly id: string
  readonly bucket: Date
  /** The values of `filter.groups`. null: the requests have no such value. */
  readonly groups: Readonly<Partial<Record<UsageGroup, string | null>>>
  readonly sandbox: boolean
  /** The row sums the groups that are not among `filter.top`. */
  readonly isRest: boolean
  readonly requests: number
  readonly errors: number
  readonly unpriced: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number
  readonly costNanoUsd: number
  /** Requests by latency slot (core/records/latency-histogram.ts), for parseCounts. */
  readonly latencies: string
  /** Streams by the slot of the time to their first byte, for parseCounts. */
  readonly firstBytes: string
}

/** Returns the counts of a row. They stay text until then, since those of 10,000 rows take too long for one tick of the event loop. */
export function parseCounts(array: string): number[] {
  return JSON.parse(`[${array.slice(1, -1)}]`)
}

/** Each statement of a page reads a time span this many times as long as the one before. */
const GROWTH = 4

/**
 * Usage by bucket and group, newest bucket first. Reads the rollups backwards in growing time spans until the page is
 * full, so that a page of many groups reads few buckets.
 */
export async function listUsage(db: Db, filter: UsageFilter, page: Page): Promise<UsageRow[]> {
  const { begin: oldest, end: newest } = usageBounds(filter)
  const top = filter.top === undefined ? undefined : await rankGroups(db, filter, filter.top)
  const rows: UsageRow[] = []
  let end = page.after === undefined ? newest : Math.min(newest, endOfBucket(filter, page.after.at.getTime()))
  for (let spanMs = spanMsOf(filter); end > oldest && rows.length < page.limit; spanMs *= GROWTH) {
    const begin = Math.max(oldest, startOfBucket(filter, end - spanMs))
    const limit = page.limit - rows.length
    rows.push(...(await listSpan(db, filter, top, new Date(begin), new Date(end), { ...page, limit })))
    end = begin
  }
  return rows
}

/** The ids of the groups that cost most in the whole time, real money before the sandbox's. */
async function rankGroups(db: Db, filter: UsageFilter, top: number): Promise<readonly string[]> {
  if (filter.groups.length === 0) return []
  const columns = sql.join(filter.groups.map(group => sql.ref(group)))
  const { begin, end } = usageBounds(filter)
  const { rows } = await sql<{ id: string }>`
    select ${GROUP_ID(columns)} as id from ${sql.table(tableOf(filter))}
    where ${isSelected(filter, new Date(begin), new Date(end))}
    group by ${columns}
    order by sum(cost_nano_usd) filter (where not sandbox) desc nulls last, sum(cost_nano_usd) desc,
      sum(requests) desc, id
    limit ${top}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Rows of the filter's buckets that begin at or after `begin` and before `end`. */
async function listSpan(
  db: Db,
  filter: UsageFilter,
  top: readonly string[] | undefined,
  begin: Date,
  end: Date,
  page: Page,
): Promise<UsageRow[]> {
  const { groups } = filter
  const columns = groups.map(group => sql.ref(group))
  const isRest =
    top === undefined || groups.length === 0
      ? sql`false`
      : sql`not (${GROUP_ID(sql.join(columns))} = any(${top}::uuid[]))`
  const named = groups.map(
    group => sql`case when not "isRest" then ${sql.ref(group)} end as ${sql.ref(group)}`,
  )
  const keys = sql.join([sql.ref('sandbox'), sql.ref('isRest'), ...columns])
  const values = groups.map(group => sql`${group}::text, ${presentOf(group)}`)
  // Each row is as it is answered: to convert thousands of them here would be a long tick.
  const { rows } = await sql<UsageRow>`
    select * from (
      select bucket, md5(row(${keys})::text)::uuid as id, sandbox, "isRest",
        json_build_object(${values.length === 0 ? sql`` : sql.join(values)}) as groups,
        sum(requests)::bigint as requests, sum(errors)::bigint as errors, sum(unpriced)::bigint as unpriced,
        sum(uncached_input_tokens + cache_read_tokens + cache_write_tokens)::bigint as "inputTokens",
        sum(output_tokens + reasoning_tokens)::bigint as "outputTokens",
        sum(cache_read_tokens)::bigint as "cachedTokens", sum(cost_nano_usd)::float8 as "costNanoUsd",
        sum(reasoning_tokens)::bigint as "reasoningTokens",
        ${sumsOf(LATENCY_COLUMNS)} as latencies, ${sumsOf(FIRST_BYTE_COLUMNS)} as "firstBytes"
      from (
        select ${sql.join([sql`"start" as bucket`, sql.ref('sandbox'), sql.ref('isRest'), ...named])},
          ${sql.join(COUNTERS.map(column => sql.ref(column)))}
        from (
          select ${bucketOf(filter)} as "start", *, ${isRest} as "isRest" from ${sql.table(tableOf(filter))}
          where ${isSelected(filter, begin, end)}
        ) as selected
      ) as counted
      group by bucket, ${keys}
    ) as usage
    where ${page.after === undefined ? sql`true` : sql`(bucket, id) < (${page.after.at}, ${page.after.id}::uuid)`}
    order by bucket desc, id desc
    limit ${page.limit}`.execute(db)
  return rows
}

/** A group's value; null instead of one that stands for an absent one (usage-rollups.ts). */
function presentOf(group: UsageGroup): RawBuilder<string | null> {
  return sql`nullif(nullif(${sql.ref(group)}::text, ''), ${ABSENT_ID}::text)`
}

const COUNTERS = [
  'requests',
  'errors',
  'unpriced',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
  ...LATENCY_COLUMNS,
  ...FIRST_BYTE_COLUMNS,
]

/** A sum of each column: an array, as text. */
function sumsOf(columns: readonly string[]): RawBuilder<string> {
  return sql`array[${sql.join(columns.map(column => sql`sum(${sql.ref(column)})`))}]::text`
}

/** Identifies a group in all buckets, of the sandbox or not. */
const GROUP_ID = (columns: RawBuilder<unknown>) => sql`md5(row(${columns})::text)::uuid`

function tableOf({ groups, only }: UsageFilter): string {
  const isByEndUser = groups.includes('end_user_id') || only?.end_user_id !== undefined
  return isByEndUser ? 'end_user_rollups' : 'usage_rollups'
}

function isSelected(filter: UsageFilter, begin: Date, end: Date) {
  const { orgId, below, only = {} } = filter
  const chosen = Object.entries(only).map(([column, value]) => sql` and ${sql.ref(column)} = ${value}`)
  const { gap } = usageBounds(filter)
  return sql`org_id = ${orgId} and span = ${sourceOf(filter)} and bucket >= ${begin} and bucket < ${end}
    ${gap === undefined ? sql`` : sql`and not (bucket >= ${new Date(gap.begin)} and bucket < ${new Date(gap.end)})`}
    ${below === undefined ? sql`` : sql`and ${sql.ref(below.column)} = ${below.id}`}
    ${chosen.length === 0 ? sql`` : sql.join(chosen, sql``)}`
}
