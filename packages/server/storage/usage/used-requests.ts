/**
 * What requests used, as SQL over selectors `q`: rows of columns `org_id`, `project_id`, `environment_id`, `key_id` (the original of all
 * keys that count), `end_user_id` (needs `environment_id`), `real_only`, `is_whole`, `since` and `until`. The narrowest part that is not
 * null is selected. Usage of a key or an end user is found by an index of its own, other usage by the one on environments.
 */

const INPUT = '(u.uncached_input_tokens::bigint + u.cache_read_tokens + u.cache_write_tokens)'
const OUTPUT = '(u.output_tokens::bigint + u.reasoning_tokens)'
/** Input and output tokens of every kind, as SQL over a row of `usage_records` named `u`. */
export const TOKENS = `(${INPUT} + ${OUTPUT})`
/** Quotas count a request that was answered or generated anything: not one that was refused, or failed before. */
export const IS_SERVED = `(u.status < 400 or ${TOKENS} > 0)`

/** Columns of a record that are those of a rollup too. */
export const RECORD_COLUMNS = `1 as requests, ${IS_SERVED}::integer as served_requests, ${INPUT} as input_tokens,
  ${OUTPUT} as output_tokens, u.cost_nano_usd, u.at as last_at`
export const ROLLUP_COLUMNS =
  'u.requests, u.served_requests, u.input_tokens, u.output_tokens, u.cost_nano_usd, u.last_at'

/** An array, so that the index on keys is read, whatever the planner expects of their number. */
const keysAs = (type: string): string =>
  `any(array(select k.id::${type} from keys k where k.original_id = q.key_id))`

const ENVIRONMENTS = `e.org_id = q.org_id and (q.project_id is null or e.project_id = q.project_id)
  and (q.environment_id is null or e.id = q.environment_id)`

const isIn = (time: string): string =>
  `u.${time} >= coalesce(q.since, '-infinity') and u.${time} < coalesce(q.until, 'infinity')
  and not (u.sandbox and q.real_only)`

/** Selects columns of the usage records `u` of selectors that are not whole, each of which fulfils the condition. */
export function recordsOf(columns: string, condition = 'true'): string {
  const when = `${isIn('at')} and ${condition}`
  return `lateral (
    select ${columns} from usage_records u
      where not q.is_whole and q.key_id is not null and u.key_id = ${keysAs('uuid')} and u.org_id = q.org_id and ${when}
    union all
    select ${columns} from usage_records u
      where not q.is_whole and q.key_id is null and q.end_user_id is not null
        and u.environment_id = q.environment_id and u.end_user_id = q.end_user_id and ${when}
    union all
    select ${columns} from environments e join usage_records u on u.environment_id = e.id
      where not q.is_whole and q.key_id is null and q.end_user_id is null and ${ENVIRONMENTS} and ${when})`
}

/** Selects columns of the rollups `u` of selectors that are whole. */
export function rollupsOf(columns: string): string {
  const when = isIn('hour')
  return `lateral (
    select ${columns} from meter_rollups u
      where q.is_whole and q.key_id is not null and u.org_id = q.org_id and u.kind = 'key' and u.ref = ${keysAs('text')} and ${when}
    union all
    select ${columns} from meter_rollups u
      where q.is_whole and q.key_id is null and q.end_user_id is not null
        and u.org_id = q.org_id and u.kind = 'end_user' and u.ref = q.end_user_id and u.environment_id = q.environment_id and ${when}
    union all
    select ${columns} from environments e join meter_rollups u
        on u.org_id = e.org_id and u.kind = 'environment' and u.ref = '' and u.environment_id = e.id
      where q.is_whole and q.key_id is null and q.end_user_id is null and ${ENVIRONMENTS} and ${when})`
}

const HOUR_MS = 3_600_000

/** A part of a time. null: no bound. */
export interface UsageSpan {
  /** True: the rollups have its usage, since it is whole UTC hours. False: it is summed record by record. */
  readonly is_whole: boolean
  readonly since: Date | null
  /** Exclusive. */
  readonly until: Date | null
}

/**
 * Divides the time from `since` up to, but not including, `until` (Unix milliseconds; -Infinity and Infinity: no bound) into its whole
 * UTC hours before `openFrom` and what is around them, which is summed record by record.
 */
export function toSpans(since: number, until: number, openFrom = Number.POSITIVE_INFINITY): UsageSpan[] {
  const begin = Math.ceil(since / HOUR_MS) * HOUR_MS
  const end = Math.floor(Math.min(until, openFrom) / HOUR_MS) * HOUR_MS
  if (begin >= end) return [toSpan(false, since, until)]
  const spans = [toSpan(true, begin, end)]
  if (since < begin) spans.push(toSpan(false, since, begin))
  if (end < until) spans.push(toSpan(false, end, until))
  return spans
}

function toSpan(isWhole: boolean, since: number, until: number): UsageSpan {
  return { is_whole: isWhole, since: toBound(since), until: toBound(until) }
}

function toBound(at: number): Date | null {
  return Number.isFinite(at) ? new Date(at) : null
}
