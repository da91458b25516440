/** What happened in an organization: the audit log, alerts, and the webhooks that are notified of them. */
export const events = `
-- A row for each successful write, kept for ever. It has no foreign keys: an entry outlives its actor and its resource.
create table audit_log (
  id uuid primary key,
  at timestamptz not null,
  org_id uuid not null,
  -- system: the program itself, for example when spend reached a share of its budget.
  actor_kind text not null check (actor_kind in ('member', 'management_key', 'anonymous', 'system')),
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

-- Alerts that were raised. The primary key makes each threshold of a window alert once, whichever process detects it.
create table alerts (
  -- Identifies the meter and its window (core/limits/meter.ts).
  counter text not null,
  pct integer not null,
  org_id uuid not null references organizations,
  raised_at timestamptz not null,
  -- null: the window never ends.
  window_end timestamptz,
  primary key (counter, pct)
);
create index alerts_window_end on alerts (window_end) where window_end is not null;

create table webhooks (
  id uuid primary key,
  org_id uuid not null references organizations,
  url text not null,
  events text[] not null,
  -- The secret that signs deliveries.
  secret_cipher bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhooks_org on webhooks (org_id, created_at desc, id desc);

-- A queue: an event for each webhook that subscribes to it.
create table webhook_deliveries (
  -- Sent with every attempt, so that a receiver recognizes a repeated event.
  id uuid primary key,
  org_id uuid not null references organizations,
  webhook_id uuid not null references webhooks on delete cascade,
  event text not null,
  -- The exact bytes that are signed and sent.
  payload text not null,
  -- Attempts that were started.
  attempts integer not null default 0,
  -- While an attempt runs: when its lease ends and another process may try. null: delivered or given up.
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  -- Why the last attempt failed.
  failure text,
  created_at timestamptz not null
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where next_attempt_at is not null;
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id);
create index webhook_deliveries_ended on webhook_deliveries (created_at) where next_attempt_at is null;
`
