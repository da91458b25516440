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
`
