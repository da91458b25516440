import { LATENCY_SLOTS } from '../core/latency-histogram.ts'

/** `l00` to `l47`: the number of requests in each latency slot (core/latency-histogram.ts). */
export const LATENCY_COLUMNS = Array.from(
  { length: LATENCY_SLOTS },
  (_, slot) => `l${String(slot).padStart(2, '0')}`,
)

/** Stands for an absent id in a rollup's primary key, which has no nulls. An absent text is ''. */
export const ABSENT_ID = '00000000-0000-0000-0000-000000000000'

/** Columns of a rollup's primary key, with the SQL that computes each from a usage record. */
const KEY = {
  org_id: 'org_id',
  span: 'span',
  bucket: 'bucket',
  environment_id: 'environment_id',
  key_id: `coalesce(key_id, '${ABSENT_ID}')`,
  provider: `coalesce(provider, '')`,
  model: `coalesce(model, '')`,
  sandbox: 'sandbox',
} as const

/** Counters of a rollup, with the SQL that sums each over usage records. */
const COUNTERS: Readonly<Record<string, string>> = {
  requests: 'count(*)',
  errors: 'count(*) filter (where status >= 400)',
  unpriced: 'count(*) filter (where cost_nano_usd is null)',
  uncached_input_tokens: 'sum(uncached_input_tokens)',
  cache_read_tokens: 'sum(cache_read_tokens)',
  cache_write_tokens: 'sum(cache_write_tokens)',
  output_tokens: 'sum(output_tokens)',
  reasoning_tokens: 'sum(reasoning_tokens)',
  cost_nano_usd: 'coalesce(sum(cost_nano_usd), 0)',
  ...Object.fromEntries(
    LATENCY_COLUMNS.map((column, slot) => [column, `count(*) filter (where slot = ${slot})`]),
  ),
}

/**
 * SQL that adds the records of the relation `from` to a rollup table. It locks rows in the order of their primary key, so
 * that concurrent writers cannot deadlock.
 */
function addTo(table: string, key: Readonly<Record<string, string>>, from: string): string {
  const keys = Object.keys(key)
  const counters = Object.keys(COUNTERS)
  return `insert into ${table} as r (${keys.join(', ')}, project_id, ${counters.join(', ')})
    select ${Object.values(key).join(', ')}, project_id, ${Object.values(COUNTERS).join(', ')} from ${from}
    group by ${keys.map((_, index) => index + 1).join(', ')}, project_id
    order by ${keys.map((_, index) => index + 1).join(', ')}
    on conflict (${keys.join(', ')}) do update set
    ${counters.map(column => `${column} = r.${column} + excluded.${column}`).join(', ')}`
}

/** SQL that adds the records to the rollups without end user, and to those by end user. */
export const addToUsage = (from: string): string => addTo('usage_rollups', KEY, from)
export const addToEndUserUsage = (from: string): string =>
  addTo('end_user_rollups', { ...KEY, end_user_id: `coalesce(end_user_id, '')` }, from)
