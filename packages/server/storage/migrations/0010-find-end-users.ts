/** Finding end users by the beginning of their name, and those who are blocked. */
export const findEndUsers = `
create index if not exists end_users_prefix on end_users (environment_id, external_id text_pattern_ops);
create index if not exists end_users_blocked on end_users (environment_id, created_at desc, id desc)
  where blocked_at is not null;
`
