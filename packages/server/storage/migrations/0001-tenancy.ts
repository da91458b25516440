/** Tenancy, keys and provider credentials, and the triggers that announce a change of any of them. */
export const sql = `
create table users (
  id uuid primary key,
  email text not null,
  name text,
  password_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index users_email on users (lower(email));

create table organizations (
  id uuid primary key,
  name text not null,
  slug text not null,
  time_zone text not null default 'UTC',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A deleted organization or project stays as a tombstone, so that a key below it is told as revoked, not unknown.
  deleted_at timestamptz
);
create unique index organizations_slug on organizations (slug) where deleted_at is null;

create table members (
  id uuid primary key,
  org_id uuid not null references organizations,
  user_id uuid references users,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  invite_email text,
  invited_by uuid references users,
  accepted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (org_id, user_id)
);

create table management_keys (
  id uuid primary key,
  org_id uuid not null references organizations,
  name text not null,
  role text not null check (role in ('admin', 'developer', 'viewer')),
  hash bytea not null unique,
  prefix_display text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index management_keys_org on management_keys (org_id, created_at desc, id desc);

create table projects (
  id uuid primary key,
  org_id uuid not null references organizations,
  name text not null,
  slug text not null,
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
  log_capture text not null check (log_capture in ('full', 'metadata')),
  allowed_models text[],
  unsupported_params text not null default 'refuse' check (unsupported_params in ('refuse', 'drop')),
  on_client_gone text not null default 'cancel' check (on_client_gone in ('cancel', 'drain')),
  allow_client_passthrough boolean not null default false,
  allow_secret_key_in_browser boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (project_id, name)
);

create table keys (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  kind text not null check (kind in ('secret', 'publishable')),
  name text not null,
  -- SHA-256 of the whole key. The plaintext is never stored, but a publishable one may be shown again.
  hash bytea not null unique,
  prefix_display text not null,
  publishable_cipher bytea,
  scopes text[] not null,
  allowed_models text[],
  allowed_endpoints text[],
  max_request_cost_nano_usd bigint,
  expires_at timestamptz,
  revoked_at timestamptz,
  rolled_to uuid references keys,
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index keys_environment on keys (environment_id, created_at desc, id desc);

create table provider_credentials (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  provider text not null,
  name text not null,
  -- AES-256-GCM under the master key; see core/secret-box.ts for the layout.
  secret_cipher bytea not null,
  key_fingerprint text not null,
  base_url text,
  options jsonb not null default '{}',
  weight integer not null default 1 check (weight between 0 and 1000),
  last_validated_at timestamptz,
  validation_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index provider_credentials_project on provider_credentials (project_id, created_at desc, id desc);
create index provider_credentials_environment on provider_credentials (environment_id, created_at desc, id desc);

-- Every change that a gateway's snapshot depends on is announced by the database itself, in the transaction that makes
-- it, so that no writer can forget. The payload is the environment's id.
create function announce_environment() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', coalesce(new.environment_id, old.environment_id)::text);
  return null;
end $$;
create function announce_self() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', coalesce(new.id, old.id)::text);
  return null;
end $$;
create function announce_project() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', e.id::text) from environments e where e.project_id = coalesce(new.id, old.id);
  return null;
end $$;
create function announce_organization() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', e.id::text) from environments e where e.org_id = coalesce(new.id, old.id);
  return null;
end $$;
create trigger announce after insert or update or delete on environments for each row execute function announce_self();
create trigger announce after update or delete on projects for each row execute function announce_project();
create trigger announce after update or delete on organizations for each row execute function announce_organization();
create trigger announce after insert or delete on keys for each row execute function announce_environment();
-- What changes nothing that a snapshot holds is not announced: use of a key, the verdict on a credential.
create trigger announce_update after update on keys for each row
  when (to_jsonb(old) - '{last_used_at,updated_at}'::text[] is distinct from
    to_jsonb(new) - '{last_used_at,updated_at}'::text[])
  execute function announce_environment();
create trigger announce after insert or delete on provider_credentials for each row
  execute function announce_environment();
create trigger announce_update after update on provider_credentials for each row
  when (to_jsonb(old) - '{last_validated_at,validation_error,updated_at}'::text[] is distinct from
    to_jsonb(new) - '{last_validated_at,validation_error,updated_at}'::text[])
  execute function announce_environment();
`
