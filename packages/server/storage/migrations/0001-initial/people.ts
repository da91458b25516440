/** People who sign in to the control plane: accounts, how they prove who they are, and the organizations they belong to. */
export const people = `
create table users (
  id uuid primary key,
  email text not null,
  -- True if someone other than the account itself vouched for the address: the operator at set-up, or the OIDC issuer.
  email_proven boolean not null,
  name text,
  -- scrypt, in PHC string format. null: the account signs in by OIDC only.
  password_hash text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index users_email on users (lower(email));

-- Accounts at an OIDC issuer that sign in as a user.
create table identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index identities_user on identities (user_id);

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
  -- A user has at most one reset link: a new one replaces the previous one.
  user_id uuid primary key references users,
  -- SHA-256 of the token in the link.
  hash bytea not null unique,
  issued_by uuid not null references users,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

-- A user's role in an organization. A row without accepted_at is a pending invitation.
create table members (
  id uuid primary key,
  org_id uuid not null references organizations,
  user_id uuid references users,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  invite_email text,
  invited_by uuid references users,
  -- SHA-256 of the token in the invitation link. null once the invitation was accepted.
  invite_hash bytea unique,
  invite_expires_at timestamptz,
  accepted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (org_id, user_id)
);
create unique index members_invitation on members (org_id, lower(invite_email)) where accepted_at is null;
create index members_org on members (org_id, created_at desc, id desc);
create index members_user on members (user_id);
`
