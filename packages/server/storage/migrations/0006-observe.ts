const slots = Array.from({ length: 48 }, (_, slot) => `l${String(slot).padStart(2, '0')}`)

/** What a rollup counts. Of columns that the key needs, an absent value is stored as '' or the all-zero UUID. */
const counters = `
  requests integer not null,
  errors integer not null,
  -- Requests whose price is unknown; the cost is that of the others.
  unpriced integer not null,
  uncached_input_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_nano_usd bigint not null,
  -- Requests by how long they took: see core/latency-histogram.ts.
  ${slots.map(slot => `${slot} integer not null`).join(', ')}`

const NOBODY = '00000000-0000-0000-0000-000000000000'

/** The counters of usage_records so far. */
const totals = `
  count(*), count(*) filter (where status >= 400), count(*) filter (where cost_nano_usd is null),
  sum(uncached_input_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(output_tokens),
  sum(reasoning_tokens), coalesce(sum(cost_nano_usd), 0),
  ${slots.map((_, slot) => `count(*) filter (where slot = ${slot})`).join(', ')}`

/** Up to this migration no log was dropped: each usage record has its latency there. */
const past = `(
  select u.*, latency_slot(l.total_ms) as slot, t.span, t.bucket,
    coalesce(u.key_id, '${NOBODY}') as key, coalesce(u.provider, '') as provider_name,
    coalesce(u.model, '') as model_name, coalesce(u.end_user_id, '') as end_user
  from usage_records u left join request_logs l on l.at = u.at and l.id = u.id
    left join organizations o on o.id = u.org_id, usage_buckets(u.at, o.time_zone) t
) as past`

/** The audit log; usage by hour and day; indexes for the filters of the request log. */
export const sql = `
-- One row a successful write, kept for good. Nothing refers to it and it refers to nothing: what was done outlives
-- who did it and what it was done to.
create table audit_log (
  id uuid primary key,
  at timestamptz not null,
  org_id uuid not null,
  actor_kind text not null check (actor_kind in ('member', 'management_key', 'anonymous')),
  actor_id uuid,
  actor_name text,
  operation text not null,
  resource_kind text not null,
  resource_id uuid,
  before jsonb,
  after jsonb,
  client_address text not null,
  request_id uuid not null
);
create index audit_log_org on audit_log (org_id, at desc, id desc);
create index audit_log_actor on audit_log (org_id, actor_id, at desc, id desc);
create index audit_log_operation on audit_log (org_id, operation, at desc, id desc);
create index audit_log_resource on audit_log (org_id, resource_id, at desc, id desc);

-- When the request ended, which is the order in which records are written: a live tail by arrival would miss who
-- takes long.
alter table request_logs add column ended_at timestamptz;
update request_logs set ended_at = date_trunc('milliseconds', at + total_ms * interval '1 millisecond');
alter table request_logs alter column ended_at set not null;
create index request_logs_ended on request_logs (environment_id, ended_at, id);

-- One for each filter that may fit few of many, in the order of the list, so that a page reads as many rows as it
-- shows. A model's rows are sorted a day at a time; with the key they are found at once.
create index request_logs_key on request_logs (key_id, at desc, id desc);
create index request_logs_model on request_logs (environment_id, model, key_id, at desc, id desc);
create index request_logs_model_requested on request_logs (environment_id, model_requested, key_id, at desc, id desc);
create index request_logs_end_user on request_logs (environment_id, end_user_id, at desc, id desc)
  where end_user_id is not null;
create index request_logs_failed on request_logs (environment_id, status, at desc, id desc) where status >= 400;
create index request_logs_error on request_logs (environment_id, error_code, at desc, id desc)
  where error_code is not null;
create index request_logs_metadata on request_logs (environment_id, at desc, id desc) where metadata is not null;

-- Filters depend on each other (a key asks for few models): told so, the planner does not walk through a whole month
-- for a page that nothing fits. A new partition has the same.
create statistics request_logs_filters (mcv) on key_id, provider, model, model_requested, status
  from request_logs;

create function latency_slot(ms real) returns integer language sql immutable parallel safe as $$
  select case when ms < 10 then 0 else least(47, 1 + floor(ln(ms / 10.0) / ln(1.27))::integer) end
$$;

-- Where usage at this time is counted: in an hour of UTC, and in a day of the organization's time zone as it is now.
create function usage_buckets(at timestamptz, time_zone text) returns table (span text, bucket timestamptz)
language sql stable parallel safe as $$
  values ('hour', date_trunc('hour', at, 'UTC')), ('day', date_trunc('day', at, coalesce(time_zone, 'UTC')))
$$;

-- Usage by hour and by day, kept for good. The writer adds to it in the transaction that stores the records
-- (storage/request-logs.ts).
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
  ${counters},
  primary key (org_id, span, bucket, environment_id, key_id, provider, model, sandbox)
) with (fillfactor = 80);
insert into usage_rollups
  select org_id, span, bucket, project_id, environment_id, key, provider_name, model_name, sandbox, ${totals} from ${past}
  group by org_id, span, bucket, project_id, environment_id, key, provider_name, model_name, sandbox;

-- The same by end user too, apart, because there may be millions of them: at worst a row a request.
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
  ${counters},
  primary key (org_id, span, bucket, environment_id, key_id, provider, model, sandbox, end_user_id)
) with (fillfactor = 80);
insert into end_user_rollups
  select org_id, span, bucket, project_id, environment_id, key, provider_name, model_name, sandbox, end_user, ${totals}
  from ${past}
  group by org_id, span, bucket, project_id, environment_id, key, provider_name, model_name, sandbox, end_user;

-- Retention. Everything before the given time goes at once with its partition; who waits for the lock makes others
-- wait behind it, so it gives up soon and the next run tries again.
create function drop_log_partition(child text) returns void language plpgsql set lock_timeout = '2s' as $$
begin
  execute format('drop table %I', child);
end $$;

-- In a younger partition: up to so many rows of environments that keep their log for a shorter time. The index finds
-- each environment's own, so that a run with nothing to do costs a look for each environment.
create function expire_log_rows(child text, now_at timestamptz, most integer) returns integer language plpgsql as $$
declare
  expired integer;
begin
  execute format('delete from %1$I where ctid = any (array(
      select l.ctid from environments e cross join lateral (
        select ctid from %1$I where environment_id = e.id and at < $1 - e.log_retention_days * interval ''24 hours'' limit $2
      ) l limit $2))', child) using now_at, most;
  get diagnostics expired = row_count;
  return expired;
end $$;
`
