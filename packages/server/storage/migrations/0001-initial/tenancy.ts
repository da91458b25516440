/**
 * Who owns what: an organization has projects, a project has a development and a production environment. Every row
 * below an organization carries `org_id`, the column that row-level security filters by (row-security.ts).
 */
export const tenancy = `
create table organizations (
  id uuid primary key,
  name text not null,
  slug text not null,
  -- An IANA name. Daily usage and calendar windows begin at midnight there.
  time_zone text not null default 'UTC',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Organizations and projects are marked as deleted and never removed, so that a key below one is answered with
  -- key_revoked and not with invalid_key.
  deleted_at timestamptz
);
create unique index organizations_slug on organizations (slug) where deleted_at is null;

create table projects (
  id uuid primary key,
  org_id uuid not null references organizations,
  name text not null,
  slug text not null,
  -- Origins of web pages that may use client tokens of the project.
  allowed_origins text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create unique index projects_slug on projects (org_id, slug) where deleted_at is null;

create table environments (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  name text not null check (name in ('development', 'production')),
  is_default boolean not null,
  log_retention_days integer not null default 30 check (log_retention_days between 1 and 365),
  -- full: request and response bodies are logged too.
  log_capture text not null check (log_capture in ('full', 'metadata')),
  -- null: every model is allowed.
  allowed_models text[],
  unsupported_params text not null default 'refuse' check (unsupported_params in ('refuse', 'drop')),
  on_client_gone text not null default 'cancel' check (on_client_gone in ('cancel', 'drain')),
  allow_client_passthrough boolean not null default false,
  allow_secret_key_in_browser boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (project_id, name)
);
`
