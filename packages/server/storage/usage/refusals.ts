import { type RawBuilder, sql } from 'kysely'
import { ShortTicks } from '../../core/short-ticks.ts'
import type { CalendarWindow } from '../../core/tenancy/windows.ts'
import type { Db } from '../pool.ts'
import { TOKENS } from './used-requests.ts'

/** A rule that is not in force, to be tried on the requests of the past. */
export interface TriedRule {
  readonly environmentId: string
  readonly scope: 'environment' | 'key' | 'end_user' | 'default_end_user'
  /** The key's id or the end user's external id. */
  readonly scopeRef: string | null
  readonly metric: 'requests' | 'tokens' | 'nano_usd'
  readonly limit: number
  /** A length in seconds, or a calendar window in the time zone. */
  readonly window: number | CalendarWindow
  readonly timeZone: string
  /** Requests of the sandbox do not count. */
  readonly excludesSandbox?: boolean
}

/** A bound of running requests that is not in force. */
export type TriedConcurrency = Pick<
  TriedRule,
  'environmentId' | 'scope' | 'scopeRef' | 'limit' | 'excludesSandbox'
>

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
export const MAX_REQUESTS = 20_000

/**
 * Counts the requests since a time that the rule would have refused: in each window, all after those that used it up. Reads
 * the newest `MAX_REQUESTS` by an index of usage_records.
 */
export async function countRefusals(
  db: Db,
  rule: TriedRule,
  since: Date,
  most: number = MAX_REQUESTS,
): Promise<Refusals> {
  // As the counters do (usage-seeds.ts): a rate limit counts those that failed at a provider too.
  const isRate = typeof rule.window === 'number' && rule.metric === 'requests'
  const window =
    typeof rule.window === 'number'
      ? sql`floor(extract(epoch from at) / ${rule.window}::float8)::text`
      : sql`date_trunc(${rule.window}, at, ${rule.timeZone})::text`
  const { rows } = await sql<Refusals>`
    with read as (
      select at, end_user_id, status, sandbox, ${sql.raw(TOKENS)} as tokens, coalesce(cost_nano_usd, 0) as nano_usd
      from ${recentRequests('usage_records', rule, since, most)} as u
      order by at desc
      limit ${most}
    ), counted as (
      select at, end_user_id, coalesce(sum(${rule.metric === 'requests' ? sql`1` : sql.ref(rule.metric)}) over (
        partition by ${rule.scope === 'default_end_user' ? sql`end_user_id` : sql`null::text`}, ${window}
        order by at rows between unbounded preceding and 1 preceding), 0) as before
      from read where (status < 400 or tokens > 0 ${isRate ? sql`or status >= 500` : sql``}) and ${isCounted(rule)}
    )
    select count(*) as requests, count(*) filter (where before >= ${rule.limit}) as refused,
      count(distinct ${rule.scope === 'default_end_user' ? sql`end_user_id` : sql`'all'`})
        filter (where before >= ${rule.limit}) as affected,
      min(at) as oldest, (select count(*) from read) < ${most} as "isWhole"
    from counted`.execute(db)
  return rows[0] ?? { requests: 0, refused: 0, affected: 0, oldest: null, isWhole: true }
}

/** The rows that the rule concerns. Of each of several keys the newest `most` are read apart, by the index on keys. */
function recentRequests(
  table: 'usage_records' | 'request_logs',
  { environmentId, scope, scopeRef }: TriedConcurrency,
  since: Date,
  most: number,
): RawBuilder<unknown> {
  const recent = sql`select * from ${sql.table(table)} where environment_id = ${environmentId} and at >= ${since}`
  if (scope === 'end_user') return sql`(${recent} and end_user_id = ${scopeRef})`
  if (scope !== 'key') return sql`(${recent})`
  return sql`(select r.* from keys k, lateral (${recent} and key_id = k.id order by at desc limit ${most}) as r
    where k.original_id = (select original_id from keys where id = ${scopeRef}))`
}

/** What no index finds is left out of the requests that were read, so that it cannot make the statement read more. */
function isCounted({ scope, excludesSandbox }: TriedConcurrency): RawBuilder<unknown> {
  const hasOwner = scope === 'default_end_user' ? sql`end_user_id is not null` : sql`true`
  return excludesSandbox === true ? sql`not sandbox and ${hasOwner}` : hasOwner
}

/**
 * Counts the requests since a time that a bound of running requests would have refused: those that arrived while as many ran.
 * Reads the newest `most` of the request log, which knows how long each took, and counts them in short ticks.
 */
export async function countConcurrencyRefusals(
  db: Db,
  rule: TriedConcurrency,
  since: Date,
  most: number = MAX_REQUESTS,
  ticks: Pick<ShortTicks, 'isOver' | 'next'> = new ShortTicks(),
): Promise<Refusals> {
  // What was refused before anything was generated took no place; a failure at a provider did. Times are numbers and the order of the ends
  // is PostgreSQL's, since dates and a sort of thousands of rows would be a long tick.
  const { rows } = await sql<TriedRequest>`
    with read as (
      select id, at, ended_at, ${rule.scope === 'default_end_user' ? sql`end_user_id` : sql`null`} as who,
        (status < 400 or status >= 500 or ${sql.raw(TOKENS)} > 0) and ${isCounted(rule)} as ran
      from ${recentRequests('request_logs', rule, since, most)} as u
      order by at desc, id desc
      limit ${most}
    )
    select ${epochMs('at')} as at, ${epochMs('ended_at')} as "endedAt", who, ran,
      row_number() over (order by ended_at, at, id)::integer as "endRank"
    from read order by at, id`.execute(db)
  return { ...(await tryBound(rows, rule.limit, ticks)), isWhole: rows.length < most }
}

/** A request of the past, with its times in milliseconds. */
interface TriedRequest {
  readonly at: number
  readonly endedAt: number
  /** Whose requests are counted together. */
  readonly who: string | null
  /** False: the request took no place. */
  readonly ran: boolean
  /** Its place in the order in which the requests ended, from 1. */
  readonly endRank: number
}

function epochMs(column: 'at' | 'ended_at'): RawBuilder<number> {
  return sql`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`
}

/** Admits requests, which are in the order of their arrival, while fewer than `limit` run. */
async function tryBound(
  requests: readonly TriedRequest[],
  limit: number,
  ticks: Pick<ShortTicks, 'isOver' | 'next'>,
): Promise<Omit<Refusals, 'isWhole'>> {
  const byEnd = [...requests]
  for (const request of requests) byEnd[request.endRank - 1] = request
  const running = new Map<string | null, number>()
  const admitted = new Set<unknown>()
  const affected = new Set<string | null>()
  let [ran, refused, ended] = [0, 0, 0]
  let oldest: number | undefined
  for (const request of requests) {
    if (!request.ran) continue
    if (ticks.isOver) await ticks.next()
    const { at, endedAt, who } = request
    ran++
    oldest ??= at
    for (let other = byEnd[ended]; other !== undefined && other.endedAt <= at; other = byEnd[++ended]) {
      if (admitted.delete(other)) running.set(other.who, (running.get(other.who) ?? 1) - 1)
    }
    const count = running.get(who) ?? 0
    if (count >= limit) affected.add(who)
    if (count >= limit) refused++
    else if (endedAt > at) {
      admitted.add(request)
      running.set(who, count + 1)
    }
  }
  return {
    requests: ran,
    refused,
    affected: affected.size,
    oldest: oldest === undefined ? null : new Date(oldest),
  }
}
