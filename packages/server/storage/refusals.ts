import { type RawBuilder, sql } from 'kysely'
import type { CalendarWindow } from '../core/windows.ts'
import type { Db } from './pool.ts'
import { TOKENS } from './usage-seeds.ts'

/** A rule that is not in force, to be tried on the requests of the past. */
export interface TriedRule {
  readonly environmentId: string
  readonly scope: 'environment' | 'key' | 'end_user' | 'default_end_user'
  /** The key's id or the end user's external id. */
  readonly scopeRef: string | null
  readonly metric: 'requests' | 'tokens'
  readonly limit: number
  /** A length in seconds, or a calendar window in the time zone. */
  readonly window: number | CalendarWindow
  readonly timeZone: string
}

export interface Refusals {
  /** The requests that the rule concerns. */
  readonly requests: number
  readonly refused: number
  /** How many end users would have been refused once or more; one for a rule that they share. */
  readonly affected: number
  readonly oldest: Date | null
  /** False: there were more requests than are read, and those before `oldest` are left out. */
  readonly isWhole: boolean
}

/** Bounds the time that the statement takes. */
const MOST_REQUESTS = 200_000

/**
 * Counts the requests since a time that the rule would have refused: in each window, all after those that used it up. Reads
 * the newest `MOST_REQUESTS` by an index of usage_records.
 */
export async function countRefusals(
  db: Db,
  rule: TriedRule,
  since: Date,
  most: number = MOST_REQUESTS,
): Promise<Refusals> {
  // As the counters do (usage-seeds.ts): a rate limit counts those that failed at a provider too.
  const isRate = typeof rule.window === 'number' && rule.metric === 'requests'
  const window =
    typeof rule.window === 'number'
      ? sql`floor(extract(epoch from at) / ${rule.window}::float8)::text`
      : sql`date_trunc(${rule.window}, at, ${rule.timeZone})::text`
  const { rows } = await sql<Refusals>`
    with read as (
      select at, end_user_id, status, ${sql.raw(TOKENS)} as tokens
      from usage_records u
      where environment_id = ${rule.environmentId} and at >= ${since} and ${isBound(rule)}
      order by at desc
      limit ${most}
    ), counted as (
      select at, end_user_id, coalesce(sum(${rule.metric === 'requests' ? sql`1` : sql`tokens`}) over (
        partition by ${rule.scope === 'default_end_user' ? sql`end_user_id` : sql`null::text`}, ${window}
        order by at rows between unbounded preceding and 1 preceding), 0) as before
      from read where status < 400 or tokens > 0 ${isRate ? sql`or status >= 500` : sql``}
    )
    select count(*) as requests, count(*) filter (where before >= ${rule.limit}) as refused,
      count(distinct ${rule.scope === 'default_end_user' ? sql`end_user_id` : sql`'all'`})
        filter (where before >= ${rule.limit}) as affected,
      min(at) as oldest, (select count(*) from read) < ${most} as "isWhole"
    from counted`.execute(db)
  return rows[0] ?? { requests: 0, refused: 0, affected: 0, oldest: null, isWhole: true }
}

function isBound({ scope, scopeRef }: TriedRule): RawBuilder<unknown> {
  if (scope === 'key') return sql`key_id = ${scopeRef}`
  if (scope === 'end_user') return sql`end_user_id = ${scopeRef}`
  return scope === 'default_end_user' ? sql`end_user_id is not null` : sql`true`
}
