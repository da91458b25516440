/** Answers of model calls by their `Idempotency-Key`, and which gateway processes make them. */
export const idempotency = `
create table if not exists idempotent_answers (
  -- A new one each time the key is claimed: what a claim writes later names it, so that a claim that was taken over writes
  -- nothing.
  id uuid primary key,
  -- SHA-256 of the key and of what it is scoped to. The key itself is not stored.
  hash bytea not null unique,
  -- No references: the rows live for a day, and each insert would lock the rows of their owners.
  org_id uuid not null,
  environment_id uuid not null,
  -- SHA-256 of the request's body with the key, so that the database alone confirms no guess of a body.
  body_hash bytea not null,
  -- The process that claimed the key; see idempotency_owners.
  owner uuid not null,
  claimed_at timestamptz not null default now(),
  -- null: the first answer is not complete.
  expires_at timestamptz,
  answer_bytes integer not null default 0,
  answer_cipher bytea,
  check ((expires_at is null) = (answer_cipher is null))
);
-- Ciphertext does not compress, and a rotation of the master key reads its first bytes only.
alter table idempotent_answers alter column answer_cipher set storage external;
create index if not exists idempotent_answers_expiry on idempotent_answers (expires_at);

-- A process owns its claims while it renews its row.
create table if not exists idempotency_owners (
  id uuid primary key,
  renewed_at timestamptz not null
);

-- A restart of the server interrupts renewals, so it counts as one.
create or replace function is_idempotency_owner_alive(owner uuid) returns boolean language sql stable as $$
  select exists (select from idempotency_owners o
    where o.id = owner and greatest(o.renewed_at, pg_postmaster_start_time()) > now() - interval '10 seconds')
$$;

drop trigger if exists refuse_retired on idempotent_answers;
create trigger refuse_retired before insert or update of answer_cipher on idempotent_answers for each row
  when (new.answer_cipher is not null) execute function refuse_retired_master_key('answer_cipher');
`
