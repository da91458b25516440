/** The request log: a row a request, partitioned by day, removed by the environment's log_retention_days. */
export const requestLog = `
create table request_logs (
  -- The gateway's own id of the request, which journal, ledger and settlement use.
  id uuid not null,
  -- When the request arrived. The partition key, so a replayed record conflicts with the one that is stored.
  at timestamptz not null,
  -- X-Request-Id: chosen by the caller or by the gateway. Not unique.
  request_id uuid not null,
  org_id uuid not null,
  project_id uuid not null,
  environment_id uuid not null,
  key_id uuid,
  end_user_id text,
  endpoint text not null,
  surface text not null,
  model_requested text,
  provider text,
  model text,
  stream boolean not null,
  status integer not null,
  error_code text,
  finish_reason text,
  queue_ms real not null,
  first_byte_ms real,
  total_ms real not null,
  -- When the request ended: at + total_ms. Records are inserted in this order, so the live tail reads by it.
  ended_at timestamptz not null,
  uncached_input_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  reasoning_tokens integer not null,
  -- True: the provider reported no usage, and the token counts are the gateway's estimate.
  usage_estimated boolean not null,
  -- null: the price is unknown, which is not zero.
  cost_nano_usd bigint,
  -- What limits reserved for the request. null: no limit of tokens or money applied.
  hold_tokens bigint,
  hold_nano_usd bigint,
  sandbox boolean not null,
  attempts jsonb not null,
  metadata jsonb,
  request_body text,
  response_body text,
  -- { score, comment, tags, created_at }; the latest feedback replaces earlier feedback.
  feedback jsonb,
  primary key (at, id)
) partition by range (at);

-- Lists are ordered by (at, id), newest first. Each index below serves one filter in that order, so that a page reads
-- about as many rows as it returns.
create index request_logs_environment on request_logs (environment_id, at desc, id desc);
create index request_logs_key on request_logs (key_id, at desc, id desc);
create index request_logs_model on request_logs (environment_id, model, key_id, at desc, id desc);
create index request_logs_model_requested on request_logs (environment_id, model_requested, key_id, at desc, id desc);
create index request_logs_end_user on request_logs (environment_id, end_user_id, at desc, id desc)
  where end_user_id is not null;
create index request_logs_failed on request_logs (environment_id, status, at desc, id desc) where status >= 400;
create index request_logs_error on request_logs (environment_id, error_code, at desc, id desc)
  where error_code is not null;
create index request_logs_metadata on request_logs (environment_id, at desc, id desc) where metadata is not null;
create index request_logs_request on request_logs (request_id);
create index request_logs_ended on request_logs (environment_id, ended_at, id);

-- Filters correlate (a key requests few models). These statistics tell the planner which combinations never occur, so
-- that it does not walk through a month of rows for an empty page. Partitions inherit them.
create statistics request_logs_filters (mcv) on key_id, provider, model, model_requested, status
  from request_logs;

-- Drops the partition of a day. A statement that waits for this lock blocks all later ones on the partition, so the
-- function gives up after two seconds and the next retention run tries again.
create function drop_log_partition(child text) returns void language plpgsql set lock_timeout = '2s' as $$
begin
  execute format('drop table %I', child);
end $$;

-- Deletes up to "most" rows of a partition that are past their environment's retention, and returns how many. It looks
-- up each environment's rows by index, so a run that finds nothing costs one index scan an environment.
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
