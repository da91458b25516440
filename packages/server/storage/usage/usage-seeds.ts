import type { Pool } from 'pg'
import type { Meter, Seed } from '../../core/limits/meter.ts'

interface SeedRow {
  meter: number
  /** Unix milliseconds. */
  at: number
  amount: number
}

/** Input and output tokens of every kind, as SQL over a row of `usage_records` named `u`. */
export const TOKENS = `(u.uncached_input_tokens::bigint + u.cache_read_tokens + u.cache_write_tokens
  + u.output_tokens + u.reasoning_tokens)`

/**
 * What a request adds to a meter. A quota of requests counts those that were served. A rate limit counts those that
 * failed at a provider too, but not those that the gateway refused. ledger/rules/counting-rules.ts has the same rules: keep
 * them equal.
 */
const AMOUNT = `case q.metric when 'in_flight' then 0 when 'tokens' then ${TOKENS} when 'nano_usd' then coalesce(u.cost_nano_usd, 0)
  else (u.status < 400 or ${TOKENS} > 0 or q.is_rolling and u.status >= 500)::integer end`

const WHEN = `u.at >= q.since and u.at < coalesce(q.until, 'infinity') and not (u.sandbox and q.real_only)
  and not (u.id = any($2::uuid[]))`

/**
 * Selects a row for each request of a rolling meter, and one row with the sum for any other meter. Meters of several organizations
 * share the statement, so a sum that is larger than a number holds is cut: it must not fail for the others.
 */
const TEXT = `
select q.meter, case when q.is_rolling then floor(extract(epoch from s.at) * 1000) else 0 end as at,
  least(coalesce(sum(s.amount), 0), ${Number.MAX_SAFE_INTEGER})::bigint as amount
from json_to_recordset($1::json) as q(meter integer, metric text, is_rolling boolean, real_only boolean, org_id uuid,
  project_id uuid, environment_id uuid, key_id uuid, end_user_id text, since timestamptz, until timestamptz)
left join lateral (
  select u.at, ${AMOUNT} as amount from usage_records u
    where q.key_id is not null and u.key_id = q.key_id and u.org_id = q.org_id and ${WHEN}
  union all
  select u.at, ${AMOUNT} from usage_records u
    where q.key_id is null and q.end_user_id is not null
      and u.environment_id = q.environment_id and u.end_user_id = q.end_user_id and ${WHEN}
  union all
  select u.at, ${AMOUNT} from environments e join usage_records u on u.environment_id = e.id
    where q.key_id is null and q.end_user_id is null and e.org_id = q.org_id
      and (q.project_id is null or e.project_id = q.project_id)
      and (q.environment_id is null or e.id = q.environment_id) and ${WHEN}
) as s on true
group by 1, 2
order by 1, 2`

/**
 * What each meter has counted at `at` (Unix milliseconds) by the usage records, in the order of `meters`. Requests with
 * an id of `without` are left out: the caller counts them itself.
 */
export async function listMeterSeeds(
  pool: Pool,
  meters: readonly Meter[],
  at: number,
  without: readonly string[],
): Promise<Seed[]> {
  const selectors = meters.map((meter, index) => {
    const isRolling = meter.kind === 'rolling'
    const since = isRolling ? Math.max(meter.since, at - meter.windowMs) : meter.since
    const until = meter.kind === 'fixed' && meter.end !== null ? new Date(meter.end) : null
    const { orgId, projectId, environmentId, keyId, endUserId, excludesSandbox } = meter.subject
    return {
      meter: index,
      metric: meter.metric,
      is_rolling: isRolling,
      real_only: excludesSandbox,
      org_id: orgId,
      project_id: projectId,
      environment_id: environmentId,
      key_id: keyId,
      end_user_id: endUserId,
      since: new Date(since),
      until,
    }
  })
  const { rows } = await pool.query<SeedRow>({
    name: 'read_seeds',
    text: TEXT,
    values: [JSON.stringify(selectors), without],
  })
  const seeds = meters.map(() => ({ used: 0, entries: [] as { at: number; amount: number }[] }))
  for (const row of rows) {
    const seed = seeds[row.meter]
    if (seed === undefined || row.amount === 0) continue
    seed.used += row.amount
    if (meters[row.meter]?.kind === 'rolling') seed.entries.push({ at: Number(row.at), amount: row.amount })
  }
  return seeds
}
