/** Copies of core/records/latency-histogram.ts: the columns l00 to l47 count requests by how long they took. */
const LATENCY_COLUMNS = Array.from({ length: 48 }, (_, slot) => `l${String(slot).padStart(2, '0')}`)

/** Counters of a rollup row. */
const COUNTERS = `requests integer not null,
  errors integer not null,
  -- Requests with an unknown price. cost_nano_usd is the cost of the others.
  unpriced integer not null,
  uncached_input_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_nano_usd bigint not null,
  ${LATENCY_COLUMNS.map(column => `${column} integer not null`).join(', ')}`

/**
 * Usage, kept for ever: a row a request (usage_records), and sums of those rows by hour and by day (rollups), which
 * charts read.
 */
export const usage = `
-- What each request used. Limits, quotas and budgets are measured by these rows.
create table usage_records (
  -- id and at of the request's log row.
  id uuid not null,
  at timestamptz not null,
  org_id uuid not null,
  project_id uuid not null,
  environment_id uuid not null,
  key_id uuid,
  end_user_id text,
  endpoint text not null,
  provider text,
  model text,
  status integer not null,
  uncached_input_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  reasoning_tokens integer not null,
  usage_estimated boolean not null,
  -- null: the price is unknown, which is not zero.
  cost_nano_usd bigint,
  sandbox boolean not null,
  primary key (at, id)
) partition by range (at);
create index usage_records_environment on usage_records (environment_id, at);
-- Sums over one key or one end user must not read the rows of the whole environment.
create index usage_records_key on usage_records (key_id, at) where key_id is not null;
create index usage_records_end_user on usage_records (environment_id, end_user_id, at) where end_user_id is not null;

-- The rollup column that counts a request of this duration: l00 below 10 ms, each next slot 27 % longer, l47 the rest.
create function latency_slot(ms real) returns integer language sql immutable parallel safe as $$
  select case when ms < 10 then 0 else least(47, 1 + floor(ln(ms / 10.0) / ln(1.27))::integer) end
$$;

-- The rollup buckets of a request: its UTC hour, and its day in the organization's current time zone.
create function usage_buckets(at timestamptz, time_zone text) returns table (span text, bucket timestamptz)
language sql stable parallel safe as $$
  values ('hour', date_trunc('hour', at, 'UTC')), ('day', date_trunc('day', at, coalesce(time_zone, 'UTC')))
$$;

-- Sums of usage_records by bucket. The statement that inserts the records updates them in the same transaction
-- (storage/records/request-logs.ts). A primary key has no nulls: an absent provider or model is stored as '', an absent key_id
-- as the all-zero UUID.
create table usage_rollups (
  org_id uuid not null,
  span text not null,
  bucket timestamptz not null,
  project_id uuid not null,
  environment_id uuid not null,
  key_id uuid not null,
  provider text not null,
  model text not null,
  sandbox boolean not null,
  ${COUNTERS},
  primary key (org_id, span, bucket, environment_id, key_id, provider, model, sandbox)
) with (fillfactor = 80);

-- The same sums by end user. A table of their own, because there may be millions of end users: at worst this has as
-- many rows as there were requests.
create table end_user_rollups (
  org_id uuid not null,
  span text not null,
  bucket timestamptz not null,
  project_id uuid not null,
  environment_id uuid not null,
  key_id uuid not null,
  provider text not null,
  model text not null,
  sandbox boolean not null,
  end_user_id text not null,
  ${COUNTERS},
  primary key (org_id, span, bucket, environment_id, key_id, provider, model, sandbox, end_user_id)
) with (fillfactor = 80);
`
