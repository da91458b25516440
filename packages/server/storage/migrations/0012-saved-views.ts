/** Filters of the dashboard's pages that a user saved under a name. */
export const savedViews = `
create table if not exists saved_views (
  -- Chosen by the caller.
  id uuid not null,
  user_id uuid not null references users on delete cascade,
  org_id uuid not null references organizations,
  environment_id uuid not null references environments on delete cascade,
  page text not null,
  name text not null,
  -- The query of the page's address.
  search text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (user_id, id)
);
create index if not exists saved_views_environment on saved_views (user_id, environment_id, page, name);
`
