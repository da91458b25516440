import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import { RECORD_COLUMNS, ROLLUP_COLUMNS, recordsOf, rollupsOf, toSpans } from './used-requests.ts'

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

/** Sums the usage of each selector, by its id. One statement for all of them; equal selectors are summed once. */
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
  const asked = selectors.flatMap(({ since, real_only = false, ...selector }) => {
    const spans = toSpans(since?.getTime() ?? Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
    return spans.map(span => ({ ...selector, real_only, ...span }))
  })
  const { rows } = await sql<UsageTotals & { id: string }>`
    select q.id,
      coalesce(sum(requests), 0)::bigint as requests,
      coalesce(sum(served_requests), 0)::bigint as served_requests,
      coalesce(sum(input_tokens), 0)::bigint as input_tokens,
      coalesce(sum(output_tokens), 0)::bigint as output_tokens,
      coalesce(sum(cost_nano_usd), 0)::float8 as cost_nano_usd,
      max(last_at) as last_at
    from json_to_recordset(${JSON.stringify(asked)}::json) as q(
      id uuid, org_id uuid, project_id uuid, environment_id uuid, key_id uuid, end_user_id text, real_only boolean,
      is_whole boolean, since timestamptz, until timestamptz)
    left join lateral (
      select * from ${sql.raw(recordsOf(RECORD_COLUMNS))} as records
      union all
      select * from ${sql.raw(rollupsOf(ROLLUP_COLUMNS))} as rollups
    ) as used on true
    group by q.id`.execute(db)
  return new Map(rows.map(({ id, ...totals }) => [id, totals]))
}
