/** One column for each slot of core/records/latency-histogram.ts. */
const FIRST_BYTE_COLUMNS = Array.from({ length: 48 }, (_, slot) => `f${String(slot).padStart(2, '0')}`)

const ADDED = FIRST_BYTE_COLUMNS.map(
  column => `add column if not exists ${column} integer not null default 0`,
)

/** Usage in every time zone, with the time to the first byte, and indexes for filters of keys. */
export const usageZones = `
-- Requests by the time to the first byte of a stream, in the slots of l00 to l47. Zero for requests from before.
alter table usage_rollups ${ADDED.join(', ')};
alter table end_user_rollups ${ADDED.join(', ')};

-- Rows of the span 'hour' begin at a quarter of an hour: the hours and days of every time zone are sums of them, also where
-- its clocks differ from UTC by 30 or 45 minutes. Rows from before stand at the full hour. Days are as they were.
create or replace function usage_buckets(at timestamptz, time_zone text) returns table (span text, bucket timestamptz)
language sql stable parallel safe as $$
  values ('hour', to_timestamp(floor(extract(epoch from at) / 900) * 900)),
    ('day', date_trunc('day', at, coalesce(time_zone, 'UTC')))
$$;

-- An environment's failed requests, newest first, whatever their code.
create index if not exists request_logs_errors on request_logs (environment_id, at desc, id desc)
  where error_code is not null;

-- Keys by the beginning of their name, and by state, newest first.
create index if not exists keys_name on keys (environment_id, lower(name) text_pattern_ops);
create index if not exists keys_revoked on keys (environment_id, created_at desc, id desc) where revoked_at is not null;
create index if not exists keys_expiring on keys (environment_id, created_at desc, id desc) where expires_at is not null;
create index if not exists end_users_plan on end_users (plan_id, created_at desc, id desc) where plan_id is not null;
`
