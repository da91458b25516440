/**
 * What an environment's callers may use and who they are: limits, quotas, budgets, plans, end users, identity
 * providers, device attestation; and where an organization's events go.
 */
export const sql = `
create table limits (
  id uuid primary key,
  org_id uuid not null references organizations,
  -- Both null: made for the organization, which may name a project, an environment or a key of it by scope_ref.
  project_id uuid references projects,
  environment_id uuid references environments,
  scope text not null check (scope in ('org', 'project', 'environment', 'key', 'end_user', 'default_end_user')),
  scope_ref text,
  metric text not null check (metric in ('requests', 'tokens', 'concurrency')),
  "limit" bigint not null check ("limit" >= 0),
  window_seconds integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((project_id is null) = (environment_id is null)),
  check ((metric = 'concurrency') = (window_seconds is null))
);
create index limits_org on limits (org_id, created_at desc, id desc) where environment_id is null;
create index limits_environment on limits (environment_id, created_at desc, id desc);

create table quotas (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  scope text not null check (scope in ('environment', 'key', 'end_user', 'default_end_user')),
  scope_ref text,
  metric text not null check (metric in ('requests', 'tokens')),
  "window" text not null check ("window" in ('hour', 'day', 'week', 'month')),
  "limit" bigint not null check ("limit" >= 0),
  grace_pct double precision not null default 0 check (grace_pct >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index quotas_environment on quotas (environment_id, created_at desc, id desc);

create table budgets (
  id uuid primary key,
  org_id uuid not null references organizations,
  -- null: the organization's.
  project_id uuid references projects,
  -- null: the whole of the project or organization.
  scope text check (scope in ('environment', 'key')),
  scope_ref uuid,
  limit_nano_usd bigint not null check (limit_nano_usd >= 0),
  "window" text not null check ("window" in ('day', 'week', 'month', 'total')),
  alert_pcts integer[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((scope is null) = (scope_ref is null))
);
create index budgets_org on budgets (org_id, created_at desc, id desc) where project_id is null;
create index budgets_project on budgets (project_id, created_at desc, id desc);

create table plans (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  name text not null,
  -- null everywhere: no bound of the plan's.
  allowed_models text[],
  scopes text[],
  requests_per_minute bigint,
  max_concurrency bigint,
  tokens_per_day bigint,
  nano_usd_per_month bigint,
  is_default boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index plans_environment on plans (environment_id, created_at desc, id desc);
create unique index plans_name on plans (environment_id, name);
create unique index plans_default on plans (environment_id) where is_default;

create table end_users (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  external_id text not null,
  -- Where a plan goes, the default plan counts.
  plan_id uuid references plans on delete set null,
  attributes jsonb not null default '{}',
  blocked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index end_users_environment on end_users (environment_id, created_at desc, id desc);
create unique index end_users_external on end_users (environment_id, external_id);
create index end_users_plan on end_users (plan_id) where plan_id is not null;

create table federated_auth (
  project_id uuid primary key references projects,
  org_id uuid not null references organizations,
  issuers text[] not null,
  audiences text[] not null,
  authorized_parties text[] not null,
  jwks_url text,
  algorithms text[] not null,
  user_id_claim text not null,
  plan_claim text,
  required_claims jsonb not null,
  clock_tolerance_seconds integer not null,
  max_token_age_seconds integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table device_auth (
  project_id uuid primary key references projects,
  org_id uuid not null references organizations,
  ios_team_id text,
  ios_bundle_ids text[],
  ios_environment text check (ios_environment in ('production', 'development')),
  -- Apple's DeviceCheck key: its id, and the private key sealed (see core/secret-box.ts).
  device_check_key_id text,
  device_check_cipher bytea,
  android_package_names text[],
  -- SHA-256 of the signing certificates, in lower-case hex.
  android_signing_digests text[],
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (ios_team_id is not null or android_package_names is not null),
  check ((device_check_key_id is null) = (device_check_cipher is null))
);

create table webhooks (
  id uuid primary key,
  org_id uuid not null references organizations,
  url text not null,
  events text[] not null,
  -- What deliveries are signed with, sealed.
  secret_cipher bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhooks_org on webhooks (org_id, created_at desc, id desc);

-- What a key or an end user used is asked by itself, and must not read what all others of the environment used.
create index usage_records_key on usage_records (key_id, at) where key_id is not null;
create index usage_records_end_user on usage_records (environment_id, end_user_id, at) where end_user_id is not null;

-- A row of an organization, a project or an environment concerns every environment below it.
create function announce_below() returns trigger language plpgsql as $$
declare
  changed jsonb;
begin
  if tg_op = 'DELETE' then changed := to_jsonb(old); else changed := to_jsonb(new); end if;
  perform pg_notify('rideau_config', e.id::text) from environments e
    where e.org_id = (changed->>'org_id')::uuid
      and (changed->>'project_id' is null or e.project_id = (changed->>'project_id')::uuid)
      and (changed->>'environment_id' is null or e.id = (changed->>'environment_id')::uuid);
  return null;
end $$;
create trigger announce after insert or update or delete on limits for each row execute function announce_below();
create trigger announce after insert or update or delete on quotas for each row execute function announce_environment();
create trigger announce after insert or update or delete on budgets for each row execute function announce_below();
create trigger announce after insert or update or delete on plans for each row execute function announce_environment();
create trigger announce after insert or update or delete on federated_auth for each row execute function announce_below();
create trigger announce after insert or update or delete on device_auth for each row execute function announce_below();
-- There may be millions of end users, and one without a plan that is not blocked is as good as none.
create trigger announce_insert after insert on end_users for each row
  when (new.plan_id is not null or new.blocked_at is not null) execute function announce_environment();
create trigger announce_update after update on end_users for each row
  when ((old.plan_id, old.blocked_at, old.external_id) is distinct from (new.plan_id, new.blocked_at, new.external_id))
  execute function announce_environment();
create trigger announce_delete after delete on end_users for each row
  when (old.plan_id is not null or old.blocked_at is not null) execute function announce_environment();
`
