/** Answers to repeated creates, who created a management key, and lowered output caps of budgets and the log. */
export const createsAndCaps = `
-- Answers to creating calls of the control plane by their Idempotency-Key, for a day. A row is committed with what its call
-- created.
create table if not exists idempotent_creates (
  id uuid primary key,
  -- SHA-256 of the caller, the route with its ids, and the key. The key itself is not stored.
  hash bytea not null unique,
  -- No reference: the rows live for a day, and each insert would lock the row of its organization.
  org_id uuid not null,
  expires_at timestamptz not null,
  -- The answer, secrets included, with the hash of the body that it answers.
  answer_cipher bytea not null
);
create index if not exists idempotent_creates_expiry on idempotent_creates (expires_at);
drop trigger if exists refuse_retired on idempotent_creates;
create trigger refuse_retired before insert or update of answer_cipher on idempotent_creates for each row
  execute function refuse_retired_master_key('answer_cipher');

-- Who created a key: a member that the key invites was invited by that user. null: created before this column.
alter table management_keys add column if not exists created_by uuid references users;
-- A user or, where the creator of a management key is unknown, the key.
alter table members drop constraint if exists members_invited_by_fkey;

-- What a budget does with a request whose maximum output does not fit what is left.
alter table budgets add column if not exists on_tight text not null default 'cap' check (on_tight in ('cap', 'refuse'));

-- The output tokens of one choice that the provider was asked for at most, where the gateway asked for fewer than the
-- caller or the model allows. null: it did not.
alter table request_logs add column if not exists output_cap bigint;
`
