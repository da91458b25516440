/** Filters of the request log by endpoint and sandbox, and what a record tells besides. */
export const logFilters = `
-- Each index has only the requests that are few in most environments, so others cost nothing more.
create index if not exists request_logs_endpoint on request_logs (environment_id, endpoint, at desc, id desc)
  where endpoint <> 'chat';
create index if not exists request_logs_sandbox on request_logs (environment_id, at desc, id desc) where sandbox;

-- Names of parameters that were left out; the limits that a request was checked against. null: none, or an earlier version's row.
alter table request_logs add column if not exists dropped_params jsonb;
alter table request_logs add column if not exists checked_limits jsonb;
`
