/** The request log (a partition a day, dropped by retention) and the usage ledger (kept). */
export const sql = `
create table request_logs (
  -- The gateway's own id: what journal, ledger and settlement use.
  id uuid not null,
  -- When the request arrived: the partition key, so that a replayed record meets itself.
  at timestamptz not null,
  -- X-Request-Id: a caller's own UUID, or one of ours.
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
  uncached_input_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  output_tokens integer not null,
  reasoning_tokens integer not null,
  -- The provider named no usage: the tokens are our estimate.
  usage_estimated boolean not null,
  -- null: the price is unknown, which is never zero.
  cost_nano_usd bigint,
  sandbox boolean not null,
  attempts jsonb not null,
  metadata jsonb,
  request_body text,
  response_body text,
  primary key (at, id)
) partition by range (at);
create index request_logs_environment on request_logs (environment_id, at desc, id desc);
create index request_logs_request on request_logs (request_id);

create table usage_records (
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
  cost_nano_usd bigint,
  sandbox boolean not null,
  primary key (at, id)
) partition by range (at);
create index usage_records_environment on usage_records (environment_id, at);

-- Makes the partition of a table for [from_at, to_at) where it is missing. Made apart and attached, which lets readers
-- and writers of the table go on; one maker at a time, so that two writers of a new day do not collide.
create function make_partition(parent text, child text, from_at timestamptz, to_at timestamptz) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('rideau.make_partition', 0));
  if exists (select from pg_class where relname = child and relnamespace = current_schema()::regnamespace) then
    return;
  end if;
  execute format('create table %I (like %I including all)', child, parent);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, child, from_at, to_at);
end $$;
`
