/** Alerts that were raised, and what is on its way to webhooks. */
export const sql = `
-- Nobody asked for it: the program itself noticed something, such as spend that passed a share of its budget.
alter table audit_log drop constraint audit_log_actor_kind_check;
alter table audit_log add constraint audit_log_actor_kind_check
  check (actor_kind in ('member', 'management_key', 'anonymous', 'system'));

-- One a threshold and window, whichever process notices it, and however often.
create table alerts (
  -- Names what is counted and its window (core/meter.ts).
  counter text not null,
  pct integer not null,
  org_id uuid not null references organizations,
  raised_at timestamptz not null,
  -- null: the window never ends.
  window_end timestamptz,
  primary key (counter, pct)
);
create index alerts_window_end on alerts (window_end) where window_end is not null;

create table webhook_deliveries (
  -- Tells a receiver the same event again: each try sends it.
  id uuid primary key,
  org_id uuid not null references organizations,
  webhook_id uuid not null references webhooks on delete cascade,
  event text not null,
  -- The very bytes that are signed.
  payload text not null,
  -- Tries that were begun.
  attempts integer not null default 0,
  -- While one runs: when it is taken to have died. null: delivered or given up.
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  -- Of the last try; our words.
  failure text,
  created_at timestamptz not null
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where next_attempt_at is not null;
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id);
create index webhook_deliveries_ended on webhook_deliveries (created_at) where next_attempt_at is null;
`
