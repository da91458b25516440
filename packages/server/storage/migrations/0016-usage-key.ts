/** One index of the usage records less: every one of them is written for each request. */
export const usageKey = `
-- The primary key finds the requests of an environment in the order of their times as well.
alter table usage_records drop constraint if exists usage_records_pkey;
alter table usage_records add primary key (environment_id, at, id);
drop index if exists usage_records_environment;
`
