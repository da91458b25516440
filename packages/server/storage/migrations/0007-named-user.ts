/** The `user` that a request's body names. */
export const namedUser = `
-- For the reader of the log only, never an identity: anybody may write anything into it.
alter table request_logs add column if not exists "user" text;
`
