/** What lets queues, removals and look-ups read a few rows of each organization instead of all rows of all of them. */
export const turnsAndBatches = `
-- Until the migration ends these tables can only be read. In the order of a transaction that creates a project, a credential or an event and
-- then stores its answer: one that holds the lock of an earlier table waits for none of a later one.
lock table projects, provider_credentials, webhook_deliveries, sessions, idempotent_creates in share mode;

-- The first pending items of each organization, of which a claim takes some in turns (storage/queue-turns.ts).
create index if not exists webhook_deliveries_turns on webhook_deliveries (org_id, next_attempt_at, id) where next_attempt_at is not null;
create index if not exists provider_credentials_turns on provider_credentials (org_id, refresh_at, id) where refresh_at is not null;

-- The projects of an organization by age, for the dashboard's start.
create index if not exists projects_age on projects (org_id, created_at, id) where deleted_at is null;

-- Each sign-in removes some sessions that were idle for too long.
create index if not exists sessions_last_used on sessions (last_used_at);

-- What a deleted organization leaves behind.
create index if not exists idempotent_creates_org on idempotent_creates (org_id);

-- The latest request with an X-Request-Id in some organizations. Callers choose the id, so it does not tell the day, and a plan has every
-- partition. Making one takes a tenth of a second for a year of days and locks all indexes of each; a function's plan is kept by its
-- session, and run with one index of each partition.
create or replace function find_request_log(wanted uuid, org_ids uuid[]) returns setof request_logs
language plpgsql stable set plan_cache_mode = force_generic_plan as $$
begin
  return query select l.* from request_logs l join projects p on p.id = l.project_id join organizations o on o.id = l.org_id
    where l.request_id = wanted and l.org_id = any(org_ids) and p.deleted_at is null and o.deleted_at is null
    order by l.at desc limit 1;
end $$;
`
