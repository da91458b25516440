/** What client tokens for devices need, and what ends a plan that a token was given by its end user's record. */
export const devices = `
-- A device's key that was attested. Its counter only increases.
create table if not exists devices (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  platform text not null check (platform in ('ios', 'android')),
  -- The id that the device gave the key: 32 bytes.
  key_id bytea not null,
  -- SubjectPublicKeyInfo in DER.
  public_key bytea not null,
  -- The app that the key was attested for: <team id>.<bundle id>, or the package's name.
  app_id text not null,
  -- Up to 2^32 - 1.
  sign_count bigint not null,
  -- Apple's receipt, kept unverified for its fraud assessment.
  receipt bytea,
  -- What the platform said about the app and the device.
  statement jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index if not exists devices_key on devices (environment_id, platform, key_id);

-- Challenges that were not used yet. Using one deletes its row.
create table if not exists device_challenges (
  -- SHA-256 of the challenge.
  hash bytea primary key,
  org_id uuid not null references organizations,
  environment_id uuid not null references environments,
  expires_at timestamptz not null
);
create index if not exists device_challenges_expiry on device_challenges (environment_id, expires_at);

-- From it each project's salt is made, by which a device's end user differs from project to project.
alter table deployment add column if not exists device_salt_key bytea not null
  default sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea);

-- A token holds the plan that its end user had. When a record loses its plan, earlier tokens lose it too.
alter table end_users add column if not exists plan_cleared_at timestamptz;
create or replace function note_cleared_plan() returns trigger language plpgsql as $$
begin
  new.plan_cleared_at := clock_timestamp();
  return new;
end $$;
drop trigger if exists note_cleared_plan on end_users;
create trigger note_cleared_plan before update on end_users for each row
  when (old.plan_id is not null and new.plan_id is null) execute function note_cleared_plan();
`
