/**
 * What callers authenticate with (keys, management keys), what the gateway authenticates with at providers, and what
 * it signs client tokens with. Columns named *_cipher hold secrets encrypted under the master key with AES-256-GCM;
 * core/access/secret-box.ts documents their layout and master-key-guard.ts protects them.
 */
export const credentials = `
-- Keys of the gateway.
create table keys (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  kind text not null check (kind in ('secret', 'publishable')),
  name text not null,
  -- SHA-256 of the whole key. The key itself is not stored, except that a publishable one can be shown again.
  hash bytea not null unique,
  prefix_display text not null,
  publishable_cipher bytea,
  scopes text[] not null,
  -- null: no restriction by the key.
  allowed_models text[],
  allowed_endpoints text[],
  max_request_cost_nano_usd bigint,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- The key that replaced this one.
  rolled_to uuid references keys,
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index keys_environment on keys (environment_id, created_at desc, id desc);

-- Keys of the control plane.
create table management_keys (
  id uuid primary key,
  org_id uuid not null references organizations,
  name text not null,
  role text not null check (role in ('admin', 'developer', 'viewer')),
  -- SHA-256 of the whole key.
  hash bytea not null unique,
  prefix_display text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index management_keys_org on management_keys (org_id, created_at desc, id desc);

create table provider_credentials (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  provider text not null,
  name text not null,
  secret_cipher bytea not null,
  key_fingerprint text not null,
  base_url text,
  options jsonb not null default '{}',
  weight integer not null default 1 check (weight between 0 and 1000),
  last_validated_at timestamptz,
  validation_error text,
  -- Models in the provider's own list when the credential was last validated.
  discovered_models text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index provider_credentials_project on provider_credentials (project_id, created_at desc, id desc);
create index provider_credentials_environment on provider_credentials (environment_id, created_at desc, id desc);

-- Keys that sign client tokens. core/access/signing-schedule.ts decides when each is created, used and removed.
create table signing_keys (
  id uuid primary key,
  -- RFC 7638 thumbprint of the public key.
  kid text not null unique,
  public_jwk jsonb not null,
  -- PKCS #8 in PEM. null once the key no longer signs.
  private_cipher bytea,
  activates_at timestamptz not null,
  created_at timestamptz not null
);
`
