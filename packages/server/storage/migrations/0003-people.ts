/** Sessions, invitations, reset links, and the identities that another service vouches for. */
export const sql = `
-- Did somebody besides the account itself vouch for its address: the operator at set-up, or the OIDC issuer?
-- Up to this migration only set-up made users.
alter table users add column email_proven boolean not null default true;
alter table users alter column email_proven drop default;

alter table members add column invite_hash bytea unique;
alter table members add column invite_expires_at timestamptz;
create unique index members_invitation on members (org_id, lower(invite_email)) where accepted_at is null;
create index members_org on members (org_id, created_at desc, id desc);
create index members_user on members (user_id);

create table sessions (
  id uuid primary key,
  user_id uuid not null references users,
  -- SHA-256 of the token in the cookie.
  hash bytea not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

create table password_resets (
  -- One link a user: a new one ends the one before.
  user_id uuid primary key references users,
  hash bytea not null unique,
  issued_by uuid not null references users,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index identities_user on identities (user_id);
`
