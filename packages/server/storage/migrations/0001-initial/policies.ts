/** What callers may use (limits, quotas, budgets, plans), and how a project's end users prove who they are. */
export const policies = `
-- Rate and concurrency limits.
create table limits (
  id uuid primary key,
  org_id uuid not null references organizations,
  -- Both null: the limit belongs to the organization. It may then name a project, environment or key by scope_ref.
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

-- Amounts of requests or tokens in a calendar window.
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
  -- How far above its limit the quota may go, in percent of it.
  grace_pct double precision not null default 0 check (grace_pct >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index quotas_environment on quotas (environment_id, created_at desc, id desc);

-- Amounts of money in a calendar window, or in total.
create table budgets (
  id uuid primary key,
  org_id uuid not null references organizations,
  -- null: the budget belongs to the organization.
  project_id uuid references projects,
  -- null: the budget covers its whole project or organization.
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

-- Limits for each end user who has the plan. A null column sets no limit.
create table plans (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  name text not null,
  allowed_models text[],
  scopes text[],
  requests_per_minute bigint,
  max_concurrency bigint,
  tokens_per_day bigint,
  nano_usd_per_month bigint,
  -- The plan of end users who have none of their own.
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
  -- The id that callers use.
  external_id text not null,
  -- An end user whose plan is deleted gets the default plan.
  plan_id uuid references plans on delete set null,
  attributes jsonb not null default '{}',
  blocked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index end_users_environment on end_users (environment_id, created_at desc, id desc);
create unique index end_users_external on end_users (environment_id, external_id);
create index end_users_plan on end_users (plan_id) where plan_id is not null;

-- How a project verifies tokens of its own identity provider.
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

-- How a project verifies that a request comes from its own app (App Attest, Play Integrity).
create table device_auth (
  project_id uuid primary key references projects,
  org_id uuid not null references organizations,
  ios_team_id text,
  ios_bundle_ids text[],
  ios_environment text check (ios_environment in ('production', 'development')),
  -- Apple's DeviceCheck key: its id and its encrypted private key.
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
`
