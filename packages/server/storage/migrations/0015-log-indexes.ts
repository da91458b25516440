/** Filters of the request log that no index answered among ten million requests. */
export const logIndexes = `
-- With the last column the requests of a key that streamed, or did not, are found without a look at the others' rows.
create index if not exists request_logs_key_stream on request_logs (key_id, at desc, id desc, stream);
drop index if exists request_logs_key;

-- The newest failures of several statuses: request_logs_failed has them in the order of their status first.
create index if not exists request_logs_failed_at on request_logs (environment_id, at desc, id desc) where status >= 400;
`
