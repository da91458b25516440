import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import { OF_KEY } from './usage-seeds.ts'

/** Selects the usage of an organization, or of the narrowest part of it that is given, since a time. */
export interface UsageSelector {
  /** The key of the result. */
  readonly id: string
  readonly org_id: string
  readonly project_id?: string | null
  readonly environment_id?: string | null
  /** Of the original of all keys that count (KeyRow.original_id). */
  readonly key_id?: string | null
  /** The external id. Needs environment_id. */
  readonly end_user_id?: string | null
  /** Inclusive. Absent: since the first request. */
  readonly since?: Date
  /** Leaves sandbox requests out. */
  readonly real_only?: boolean
}

export interface UsageTotals {
  readonly requests: number
  /** Requests that count towards quotas: not those that were refused or failed before anything was generated. */
  readonly served_requests: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cost_nano_usd: number
  /** When the newest request arrived. */
  readonly last_at: Date | null
}

const COLUMNS = sql`u.at, u.status, u.cost_nano_usd,
  u.uncached_input_tokens::bigint + u.cache_read_tokens + u.cache_write_tokens as input,
  u.output_tokens::bigint + u.reasoning_tokens as output`

/**
 * Sums the usage records of each selector, by its id. One statement for all of them; equal selectors are summed once.
 * Usage of a key or an end user is found by an index of its own, other usage by the index on environments.
 */
export async function sumUsage(
  db: Db,
  selectors: readonly UsageSelector[],
): Promise<ReadonlyMap<string, UsageTotals>> {
  const idBySelection = new Map(selectors.map(selector => [toSelection(selector), selector.id]))
  const totals = await sumEach(
    db,
    selectors.filter(selector => idBySelection.get(toSelection(selector)) === selector.id),
  )
  return new Map(
    selectors.flatMap(selector => {
      const sum = totals.get(idBySelection.get(toSelection(selector)) as string)
      return sum === undefined ? [] : [[selector.id, sum] as const]
    }),
  )
}

/** Equal for selectors of the same usage. */
function toSelection({ id: _, ...selection }: UsageSelector): string {
  return JSON.stringify(selection)
}

async function sumEach(db: Db, selectors: readonly UsageSelector[]): Promise<Map<string, UsageTotals>> {
  if (selectors.length === 0) return new Map()
  const { rows } = await sql<UsageTotals & { id: string }>`
    select q.id, t.* from json_to_recordset(${JSON.stringify(selectors)}::json) as q(
      id uuid, org_id uuid, project_id uuid, environment_id uuid, key_id uuid, end_user_id text, since timestamptz,
      real_only boolean)
    cross join lateral (
      select count(*) as requests,
        count(*) filter (where status < 400 or input + output > 0) as served_requests,
        coalesce(sum(input), 0)::bigint as input_tokens,
        coalesce(sum(output), 0)::bigint as output_tokens,
        coalesce(sum(cost_nano_usd), 0)::float8 as cost_nano_usd,
        max(at) as last_at
      from (
        select ${COLUMNS} from usage_records u
          where q.key_id is not null and ${sql.raw(OF_KEY)} and u.org_id = q.org_id
            and u.at >= coalesce(q.since, '-infinity') and not (u.sandbox and q.real_only is true)
        union all
        select ${COLUMNS} from usage_records u
          where q.key_id is null and q.end_user_id is not null
            and u.environment_id = q.environment_id and u.end_user_id = q.end_user_id
            and u.at >= coalesce(q.since, '-infinity') and not (u.sandbox and q.real_only is true)
        union all
        select ${COLUMNS} from environments e join usage_records u on u.environment_id = e.id
          where q.key_id is null and q.end_user_id is null and e.org_id = q.org_id
            and (q.project_id is null or e.project_id = q.project_id)
            and (q.environment_id is null or e.id = q.environment_id)
            and u.at >= coalesce(q.since, '-infinity') and not (u.sandbox and q.real_only is true)
      ) as used
    ) as t`.execute(db)
  return new Map(rows.map(({ id, ...totals }) => [id, totals]))
}
