/** The circuits that gateways opened, for those who ask the control plane, and so that each opening is announced once. */
export const circuits = `
create table if not exists circuits (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  credential_id uuid not null references provider_credentials on delete cascade,
  provider text not null,
  -- The model's name at its provider.
  model text not null,
  -- An open circuit whose retry_at has passed is half-open.
  state text not null check (state in ('open', 'closed')),
  failure_rate double precision not null,
  opened_at timestamptz not null,
  -- When the next probe is due; null: closed.
  retry_at timestamptz,
  updated_at timestamptz not null,
  -- Nothing was heard of it for so long that its gateway has ended or has forgotten it.
  expires_at timestamptz not null
);
create unique index if not exists circuits_target on circuits (credential_id, model);
create index if not exists circuits_environment on circuits (environment_id, opened_at, id);
create index if not exists circuits_expiry on circuits (expires_at);
`
