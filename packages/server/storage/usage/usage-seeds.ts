import type { Pool, PoolClient } from 'pg'
import { timeOfId } from '../../core/ids.ts'
import type { Meter, Seed } from '../../core/limits/meter.ts'
import { MAX_ROLLING_ENTRIES, rollingSlotMs } from '../../core/rolling-resolution.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import { IS_SERVED, recordsOf, rollupsOf, TOKENS, toSpans, type UsageSpan } from './used-requests.ts'

interface SeedRow {
  meter: number
  /** Unix milliseconds. */
  at: number
  amount: number
}

/**
 * What a request adds to a meter. A quota of requests counts those that were served. A rate limit counts those that
 * failed at a provider too, but not those that the gateway refused. ledger/rules/counting-rules.ts has the same rules: keep
 * them equal.
 */
const AMOUNT_OF_RECORD = `case q.metric when 'in_flight' then 0 when 'tokens' then ${TOKENS} when 'nano_usd' then coalesce(u.cost_nano_usd, 0)
  else (${IS_SERVED} or q.is_rolling and u.status >= 500)::integer end`
/** The same of a rollup, for meters that are not rolling. */
const AMOUNT_OF_ROLLUP = `case q.metric when 'in_flight' then 0 when 'tokens' then u.input_tokens + u.output_tokens
  when 'nano_usd' then u.cost_nano_usd else u.served_requests end`

/** A subselect, which is hashed in every plan. An array is hashed only while it is a constant: not in a generic plan. */
const RECORDS = recordsOf(`u.at, ${AMOUNT_OF_RECORD} as amount`, 'u.id not in (select id from running)')
const ROLLUPS = rollupsOf(`${AMOUNT_OF_ROLLUP} as amount`)

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
    org_id uuid, project_id uuid, environment_id uuid, key_id uuid, end_user_id text, is_whole boolean, since timestamptz,
    until timestamptz)
), running as materialized (
  select unnest($2::uuid[]) as id
), listed as (
  select meter, slot_ms, floor(extract(epoch from s.at) * 1000) as at, amount, count(*) over (partition by meter) as requests
  from q join ${RECORDS} as s on true where q.is_rolling
), summed as (
  select meter, amount from q join ${RECORDS} as s on true where not q.is_rolling
  union all
  select meter, amount from q join ${ROLLUPS} as s on true where not q.is_rolling
)
select meter, 0::numeric as at, ${CUT_SUM} as amount from summed group by meter
union all
select meter, max(at), ${CUT_SUM} from listed
  group by meter, case when requests <= ${MAX_ROLLING_ENTRIES} then at else floor(at / slot_ms) end
order by 1, 2`

/** So many rolling meters are read by one statement. Each may have MAX_ROLLING_ENTRIES rows, of about 150 bytes here. */
const MAX_ROLLING_METERS = 16
/** So many meters of any kind are read by one statement. Each is up to 750 bytes of its JSON, which is written in one tick. */
const MAX_METERS = 500

function* splitMeters(meters: readonly Meter[]): Generator<readonly Meter[]> {
  let [from, rolling] = [0, 0]
  for (const [index, { kind }] of meters.entries()) {
    if (kind === 'rolling') rolling++
    if (rolling <= MAX_ROLLING_METERS && index - from < MAX_METERS) continue
    yield meters.slice(from, index)
    from = index
    rolling = kind === 'rolling' ? 1 : 0
  }
  yield meters.slice(from)
}

/** Returns the statement that bounds the time of each later one of its transaction. 0 would be no bound. */
function setTimeoutOf(ms: number): string {
  return `set local statement_timeout = ${Math.max(1, Math.ceil(ms))}`
}

/** What the usage records were at one moment. */
export interface UsageSnapshot {
  /** Reads seeds of the moment, like listMeterSeeds, of few meters at a time. */
  listSeeds(meters: readonly Meter[], at: number, without: readonly string[]): Promise<Seed[]>
  /** Gives the connection back. */
  close(): Promise<void>
}

/** PostgreSQL ends a read that takes longer, which would go on without a client: the pool waits 30 s for a query. */
const STATEMENT_TIMEOUT_MS = 25_000

/**
 * Opens what the usage records are now. Records that are stored from then on are not in it, however long it is read.
 * Seeds that take longer than `statementTimeoutMs` to read fail.
 */
export async function openUsageSnapshot(
  pool: Pick<Pool, 'connect'>,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<UsageSnapshot> {
  const client = await pool.connect()
  try {
    // The first query of a transaction takes its snapshot.
    await client.query(
      `begin isolation level repeatable read read only; ${setTimeoutOf(statementTimeoutMs)}; select 1`,
    )
  } catch (error) {
    client.release(true)
    throw error
  }
  return {
    async listSeeds(meters, at, without) {
      const startedAt = performance.now()
      const seeds: Seed[] = []
      const ticks = new ShortTicks()
      for (const some of splitMeters(meters)) {
        // All statements together have the time of one.
        const leftMs = statementTimeoutMs - (performance.now() - startedAt)
        if (seeds.length > 0) await client.query(setTimeoutOf(leftMs))
        for (const seed of await listMeterSeeds(client, some, at, without, ticks)) seeds.push(seed)
      }
      return seeds
    },
    close: () =>
      client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      ),
  }
}

/**
 * What each meter has counted at `at` (Unix milliseconds) by the usage records, in the order of `meters`. Requests with
 * an id of `without` are left out: the caller counts them itself. Rows are read in short ticks.
 */
export async function listMeterSeeds(
  pool: Pick<PoolClient, 'query'>,
  meters: readonly Meter[],
  at: number,
  without: readonly string[],
  ticks: Pick<ShortTicks, 'isOver' | 'next'> = new ShortTicks(),
): Promise<Seed[]> {
  const openFrom = firstArrival(without)
  const selectors = meters.flatMap((meter, index) => {
    const isRolling = meter.kind === 'rolling'
    const { orgId, projectId, environmentId, keyId, endUserId, excludesSandbox } = meter.subject
    return spansOf(meter, at, openFrom).map(span => ({
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
      ...span,
    }))
  })
  const { rows } = await pool.query<SeedRow>({
    name: 'list_seeds',
    text: TEXT,
    values: [JSON.stringify(selectors), without],
  })
  const seeds = meters.map(() => ({ used: 0, entries: [] as { at: number; amount: number }[] }))
  for (const row of rows) {
    if (ticks.isOver) await ticks.next()
    const seed = seeds[row.meter]
    if (seed === undefined || row.amount === 0) continue
    seed.used += row.amount
    if (meters[row.meter]?.kind === 'rolling') seed.entries.push({ at: Number(row.at), amount: row.amount })
  }
  return seeds
}

function spansOf(meter: Meter, at: number, openFrom: number): UsageSpan[] {
  // Its entries are single requests, so no hour of it is whole.
  if (meter.kind === 'rolling') {
    return toSpans(
      Math.max(meter.since, at - meter.windowMs),
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    )
  }
  const until = meter.kind === 'fixed' ? meter.end : null
  return toSpans(meter.since, until ?? Number.POSITIVE_INFINITY, openFrom)
}

/** A clock may be set between the id of a request and the time of its arrival. */
const CLOCK_MS = 60_000

/** Returns a time before which none of these requests arrived, in Unix milliseconds. */
function firstArrival(ids: readonly string[]): number {
  let first = Number.POSITIVE_INFINITY
  for (const id of ids) first = Math.min(first, timeOfId(id) ?? Number.NEGATIVE_INFINITY)
  return first - CLOCK_MS
}
