import type { Pool, PoolClient } from 'pg'
import type { Meter, Seed } from '../../core/limits/meter.ts'
import { MAX_ROLLING_ENTRIES, rollingSlotMs } from '../../core/rolling-resolution.ts'

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
 * A row `u` of a key whose original is `q.key_id`. As an array it is read by the index on keys, whatever the planner expects of their
 * number.
 */
export const OF_KEY = 'u.key_id = any(array(select k.id from keys k where k.original_id = q.key_id))'

/** The requests that a selector `q` counts. */
const COUNTED = `lateral (
  select u.at, ${AMOUNT} as amount from usage_records u
    where q.key_id is not null and ${OF_KEY} and u.org_id = q.org_id and ${WHEN}
  union all
  select u.at, ${AMOUNT} from usage_records u
    where q.key_id is null and q.end_user_id is not null
      and u.environment_id = q.environment_id and u.end_user_id = q.end_user_id and ${WHEN}
  union all
  select u.at, ${AMOUNT} from environments e join usage_records u on u.environment_id = e.id
    where q.key_id is null and q.end_user_id is null and e.org_id = q.org_id
      and (q.project_id is null or e.project_id = q.project_id)
      and (q.environment_id is null or e.id = q.environment_id) and ${WHEN}
) as s`

const CUT_SUM = `least(coalesce(sum(amount), 0), ${Number.MAX_SAFE_INTEGER})::bigint`

/**
 * Selects a row for each request of a rolling meter, and one row with the sum for any other meter. Of a rolling meter with more
 * requests than its counter keeps entries (core/rolling-resolution.ts) it merges those of a slot into the latest, as the counter would: a
 * window of 31 days may have millions. Meters of several organizations share the statement, so a sum that is larger than a number holds is
 * cut: it must not fail for the others.
 */
const TEXT = `
with q as (
  select * from json_to_recordset($1::json) as r(meter integer, metric text, is_rolling boolean, slot_ms bigint, real_only boolean,
    org_id uuid, project_id uuid, environment_id uuid, key_id uuid, end_user_id text, since timestamptz, until timestamptz)
), listed as (
  select meter, slot_ms, floor(extract(epoch from s.at) * 1000) as at, amount, count(*) over (partition by meter) as requests
  from q join ${COUNTED} on true where q.is_rolling
)
select meter, 0::numeric as at, ${CUT_SUM} as amount from q left join ${COUNTED} on true where not q.is_rolling group by meter
union all
select meter, max(at), ${CUT_SUM} from listed
  group by meter, case when requests <= ${MAX_ROLLING_ENTRIES} then at else floor(at / slot_ms) end
order by 1, 2`

/** What the usage records were at one moment. */
export interface UsageSnapshot {
  /** Reads seeds of the moment, like listMeterSeeds. */
  listSeeds(meters: readonly Meter[], at: number, without: readonly string[]): Promise<Seed[]>
  /** Gives the connection back. */
  close(): Promise<void>
}

/** PostgreSQL ends a read that takes longer, which would go on without a client: the pool waits 30 s for a query. */
const STATEMENT_TIMEOUT_MS = 25_000

/**
 * Opens what the usage records are now. Records that are stored from then on are not in it, however long it is read.
 * A statement in it that takes longer than `statementTimeoutMs` fails.
 */
export async function openUsageSnapshot(
  pool: Pool,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<UsageSnapshot> {
  // 0 would be no timeout.
  const timeoutMs = Math.max(1, Math.ceil(statementTimeoutMs))
  const client = await pool.connect()
  try {
    // The first query of a transaction takes its snapshot.
    await client.query(
      `begin isolation level repeatable read read only; set local statement_timeout = ${timeoutMs}; select 1`,
    )
  } catch (error) {
    client.release(true)
    throw error
  }
  return {
    listSeeds: (meters, at, without) => listMeterSeeds(client, meters, at, without),
    close: () =>
      client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      ),
  }
}

/**
 * What each meter has counted at `at` (Unix milliseconds) by the usage records, in the order of `meters`. Requests with
 * an id of `without` are left out: the caller counts them itself.
 */
export async function listMeterSeeds(
  pool: Pick<PoolClient, 'query'>,
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
      slot_ms: isRolling ? rollingSlotMs(meter.windowMs) : null,
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
    name: 'list_seeds',
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
