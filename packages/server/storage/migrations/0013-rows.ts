/** One index of the request log less: every one of them is written for each request. */
export const rows = `
-- The primary key of usage_records refuses a record that is stored already, in the same transaction.
alter table request_logs drop constraint if exists request_logs_pkey;
`
