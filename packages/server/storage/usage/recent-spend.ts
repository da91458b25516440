import { sql } from 'kysely'
import type { Db } from '../pool.ts'

/** Selects the spend of an organization, or of the narrowest part of it that is given. */
export interface SpendSelector {
  /** The key of the result. */
  readonly id: string
  readonly project_id: string | null
  readonly environment_id: string | null
  /** Of the original of all keys that count (KeyRow.original_id). */
  readonly key_id: string | null
  /** Leaves sandbox requests out. */
  readonly real_only: boolean
}

/**
 * Sums the cost of the stored days that begin at or after `since` and before `until`, in nano-dollars by the selectors'
 * ids. A selector without a request has no entry. The days' rows are read once for all selectors.
 */
export async function sumRecentSpend(
  db: Db,
  orgId: string,
  selectors: readonly SpendSelector[],
  since: Date,
  until: Date,
): Promise<ReadonlyMap<string, number>> {
  if (selectors.length === 0) return new Map()
  const { rows } = await sql<{ id: string; cost: number }>`
    with recent as materialized (
      select project_id, environment_id, key_id, sandbox, sum(cost_nano_usd) as cost from usage_rollups
      where org_id = ${orgId} and span = 'day' and bucket >= ${since} and bucket < ${until}
      group by project_id, environment_id, key_id, sandbox
    ), selected as materialized (
      select q.*, k.id as counted_key_id
      from json_to_recordset(${JSON.stringify(selectors)}::json) as q(
        id uuid, project_id uuid, environment_id uuid, key_id uuid, real_only boolean)
      left join keys k on k.original_id = q.key_id
    )
    select q.id, sum(r.cost)::float8 as cost
    from selected q join recent r on r.project_id = coalesce(q.project_id, r.project_id)
      and r.environment_id = coalesce(q.environment_id, r.environment_id)
      and (q.key_id is null or r.key_id = q.counted_key_id)
      and not (r.sandbox and q.real_only)
    group by q.id`.execute(db)
  return new Map(rows.map(({ id, cost }) => [id, cost]))
}
