import type { Pool } from 'pg'
import type { Meter, Seed } from '../core/meter.ts'

interface SeedRow {
  meter: number
  /** Unix milliseconds. */
  at: number
  amount: number
}

/** Tokens of every kind. */
const TOKENS = `(u.uncached_input_tokens::bigint + u.cache_read_tokens + u.cache_write_tokens
  + u.output_tokens + u.reasoning_tokens)`

/**
 * A quota counts what was served; a rate counts also what a provider failed at, but not what we refused. What a
 * request leaves in a meter is written a second time in ledger/amounts.ts: they have to say the same.
 */
const AMOUNT = `case q.metric when 'tokens' then ${TOKENS} when 'nano_usd' then coalesce(u.cost_nano_usd, 0)
  else (u.status < 400 or ${TOKENS} > 0 or q.is_rolling and u.status >= 500)::integer end`

const WHEN = `u.at >= q.since and u.at < coalesce(q.until, 'infinity') and not (u.sandbox and q.real_only)
  and not (u.id = any($2::uuid[]))`

/** Of a rolling meter a row for each request, of others one with their sum. */
const TEXT = `
select q.meter, case when q.is_rolling then floor(extract(epoch from s.at) * 1000) else 0 end as at,
  coalesce(sum(s.amount), 0)::bigint as amount
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

/** What the usage ledger says of meters, without the requests of these ids: one seed a meter, in their order. */
export async function readSeeds(
  pool: Pool,
  meters: readonly Meter[],
  at: number,
  without: readonly string[],
): Promise<Seed[]> {
  const questions = meters.map((meter, index) => {
    const isRolling = meter.kind === 'rolling'
    const since = isRolling ? Math.max(meter.since, at - meter.windowMs) : meter.since
    const until = meter.kind === 'span' && meter.end !== null ? new Date(meter.end) : null
    const { orgId, projectId, environmentId, keyId, endUserId, isRealOnly } = meter.subject
    return {
      meter: index,
      metric: meter.metric,
      is_rolling: isRolling,
      real_only: isRealOnly,
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
    values: [JSON.stringify(questions), without],
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
