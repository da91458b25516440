/** Model names that an environment adds to the catalogue. */
export const models = `
create table model_aliases (
  id uuid primary key,
  org_id uuid not null references organizations,
  project_id uuid not null references projects,
  environment_id uuid not null references environments,
  alias text not null,
  strategy text not null check (strategy in ('priority', 'weighted', 'lowest_latency', 'lowest_cost')),
  -- [{ model, weight, timeout_ms, max_retries }], by descending priority.
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
  -- USD per million tokens, with the API's field names. null: the price is unknown, which is not zero.
  pricing jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint custom_models_name unique (environment_id, model)
);
create index custom_models_environment on custom_models (environment_id, created_at desc, id desc);
`
