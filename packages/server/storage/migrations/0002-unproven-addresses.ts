/**
 * Several accounts may have one address as long as no user has proved it, so that an account that another person made for
 * the address does not stand in its owner's way (docs/decisions/0026).
 */
export const unprovenAddresses = `
drop index users_email;
create unique index users_email on users (lower(email)) where email_proven;
create index if not exists users_address on users (lower(email), created_at, id);

-- One row: what belongs to the whole deployment.
create table if not exists deployment (
  only_row boolean primary key default true check (only_row),
  -- Makes the salt of an address's passwords. All accounts of an address share it, so that a sign-in hashes once.
  password_salt_key bytea not null
);
insert into deployment (password_salt_key)
  values (sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea))
  on conflict do nothing;
`
