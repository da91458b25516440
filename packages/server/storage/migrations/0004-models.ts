/** What names a model in an environment besides the catalogue, and the guard on keys that were rotated out. */
export const sql = `
-- What the provider's own list named when the credential was last validated.
alter table provider_credentials add column discovered_models text[] not null default '{}';

create table model_aliases (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  alias text not null,
  strategy text not null check (strategy in ('priority', 'weighted', 'lowest_latency', 'lowest_cost')),
  -- [{ model, weight, timeout_ms, max_retries }], in the order of their priority.
  targets jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint model_aliases_name unique (environment_id, alias)
);
create index model_aliases_environment on model_aliases (environment_id, created_at desc, id desc);

create table custom_models (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  -- provider/model
  model text not null,
  capabilities text[] not null,
  context_window integer,
  max_output_tokens integer,
  -- USD per million tokens, named as the API names them; null: unknown, which is never zero.
  pricing jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint custom_models_name unique (environment_id, model)
);
create index custom_models_environment on custom_models (environment_id, created_at desc, id desc);

create trigger announce after insert or update or delete on model_aliases for each row
  execute function announce_environment();
create trigger announce after insert or update or delete on custom_models for each row
  execute function announce_environment();

-- Master keys that a rotation has ended. A process that still seals under one is refused here: what it would write
-- could be read by nobody once that key is gone. The argument names the sealed column; see core/secret-box.ts for the
-- layout.
create table retired_master_keys (
  key_id bytea primary key,
  retired_at timestamptz not null
);
create function refuse_retired_master_key() returns trigger language plpgsql as $$
declare
  sealed bytea;
begin
  execute format('select ($1).%I', tg_argv[0]) using new into sealed;
  if exists (select from retired_master_keys where key_id = substring(sealed from 2 for 8)) then
    raise exception 'sealed under a master key that was rotated out: this process has to learn the current one';
  end if;
  return new;
end $$;
create trigger refuse_retired before insert or update of secret_cipher on provider_credentials for each row
  execute function refuse_retired_master_key('secret_cipher');
create trigger refuse_retired before insert or update of publishable_cipher on keys for each row
  when (new.publishable_cipher is not null) execute function refuse_retired_master_key('publishable_cipher');
`
