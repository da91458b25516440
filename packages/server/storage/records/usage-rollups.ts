import type { PoolClient } from 'pg'
import { LATENCY_SLOTS } from '../../core/records/latency-histogram.ts'
import type { UsageSum } from './usage-sums.ts'

/** `l00` to `l47`: the number of requests in each latency slot (core/records/latency-histogram.ts). */
export const LATENCY_COLUMNS = Array.from(
  { length: LATENCY_SLOTS },
  (_, slot) => `l${String(slot).padStart(2, '0')}`,
)

/** `f00` to `f47`: the number of streams by the time to their first byte, in the same slots. */
export const FIRST_BYTE_COLUMNS = LATENCY_COLUMNS.map(column => column.replace('l', 'f'))

/** Stands for an absent id in a rollup's primary key, which has no nulls. An absent text is ''. */
export const ABSENT_ID = '00000000-0000-0000-0000-000000000000'

/** Columns of a rollup's primary key. `org_id` to `sandbox` are columns of a sum too. */
const KEY = ['org_id', 'span', 'bucket', 'environment_id', 'key_id', 'provider', 'model', 'sandbox'] as const

/** Sums of a batch that are columns of the rollups, with the property of each (usage-sums.ts). */
const SUMS = {
  requests: 'requests',
  errors: 'errors',
  unpriced: 'unpriced',
  uncached_input_tokens: 'uncachedInputTokens',
  cache_read_tokens: 'cacheReadTokens',
  cache_write_tokens: 'cacheWriteTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
  cost_nano_usd: 'costNanoUsd',
} as const satisfies Readonly<Record<string, keyof UsageSum>>

/** The largest value of a column. Costs of absurd usage add up to more, and must not keep the batch out of the database. */
const MAX = '9223372036854775807'

/** Counters of a rollup, with the SQL that adds each up over the sums of a batch. */
const COUNTERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(SUMS).map(column => [column, `sum(${column})`])),
  cost_nano_usd: `least(sum(cost_nano_usd), ${MAX})`,
  ...Object.fromEntries(LATENCY_COLUMNS.map((column, slot) => [column, `sum(latencies[${slot + 1}])`])),
  ...Object.fromEntries(FIRST_BYTE_COLUMNS.map((column, slot) => [column, `sum(first_bytes[${slot + 1}])`])),
}

/**
 * SQL that adds sums to a rollup table. It locks rows in the order of their primary key, so that concurrent writers cannot
 * deadlock.
 */
function addTo(table: string, key: readonly string[]): string {
  const counters = Object.keys(COUNTERS)
  return `insert into ${table} as r (${key.join(', ')}, project_id, ${counters.join(', ')})
    select ${key.join(', ')}, project_id, ${Object.values(COUNTERS).join(', ')} from counted
    group by ${key.join(', ')}, project_id
    order by ${key.join(', ')}
    on conflict (${key.join(', ')}) do update set
    ${counters.map(column => `${column} = ${addedTo(column)}`).join(', ')}`
}

function addedTo(column: string): string {
  if (column !== 'cost_nano_usd') return `r.${column} + excluded.${column}`
  return `least(r.${column}::numeric + excluded.${column}, ${MAX})`
}

/** The parameters of ADD_SUMS: a name, its type and what a sum has for it. */
const PARAMETERS: readonly (readonly [name: string, type: string, value: (sum: UsageSum) => unknown])[] = [
  ['org_id', 'uuid', ({ of }) => of.org_id],
  ['project_id', 'uuid', ({ of }) => of.project_id],
  ['environment_id', 'uuid', ({ of }) => of.environment_id],
  ['key_id', 'uuid', ({ of }) => of.key_id ?? ABSENT_ID],
  ['provider', 'text', ({ of }) => toKeyText(of.provider)],
  ['model', 'text', ({ of }) => toKeyText(of.model)],
  ['end_user_id', 'text', ({ of }) => toKeyText(of.end_user_id)],
  ['sandbox', 'boolean', ({ of }) => of.sandbox],
  ['at', 'timestamptz', ({ quarter }) => new Date(quarter).toISOString()],
  ...Object.entries(SUMS).map(
    ([column, property]) => [column, 'bigint', (sum: UsageSum) => sum[property]] as const,
  ),
  ['latencies', 'text', ({ latencies }) => `{${latencies.join()}}`],
  ['first_bytes', 'text', ({ firstBytes }) => `{${firstBytes.join()}}`],
]

/** Returns the text as PostgreSQL stores it (storable.ts). */
function toKeyText(text: string | null): string {
  return text === null || text === undefined ? '' : String(text).replaceAll('\0', '\ufffd')
}

const NAMES = PARAMETERS.map(([name]) => name)

/** Adds the sums to the rollups without end user, and to those by end user. */
const ADD_SUMS = `
with summed as materialized (
  select ${NAMES.slice(0, -2).join(', ')}, latencies::integer[] as latencies, first_bytes::integer[] as first_bytes
  from unnest(${PARAMETERS.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ')}) as s (${NAMES.join(', ')})
),
counted as materialized (
  select summed.*, span, bucket
  from summed left join organizations o on o.id = org_id, usage_buckets(at, o.time_zone)
),
added as (${addTo('usage_rollups', KEY)})
${addTo('end_user_rollups', [...KEY, 'end_user_id'])}`

/** Adds sums to the rollups, in the caller's transaction. */
export async function addToRollups(client: PoolClient, sums: readonly UsageSum[]): Promise<void> {
  const values = PARAMETERS.map(([, , value]) => sums.map(value))
  await client.query({ name: 'add_to_rollups', text: ADD_SUMS, values })
}
