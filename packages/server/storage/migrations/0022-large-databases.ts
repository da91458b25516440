/** Indexes for many organizations and end users. */
export const largeDatabases = `
-- Each of these blocks writes of its table, and no reads, until the migrations end: it is built in about a second per million rows.
create index if not exists environments_org on environments (org_id);
create index if not exists budgets_owner on budgets (org_id, id);
create index if not exists quotas_owner on quotas (org_id, id);
create index if not exists members_invited on members (invite_email, created_at desc, id desc) where accepted_at is null;

-- Blocks reads and writes of plans and end users until the migrations end: up to 20 s for ten million end users that have a plan. Both are
-- locked first. A transaction that has read a plan, and waits for the new index to write an end user, would be in a deadlock with the drop
-- of the old one.
lock table plans, end_users in access exclusive mode;

-- The end users of a plan, newest first. 0011 did not make it: an index of the initial schema had the name.
create index if not exists end_users_plan_list on end_users (plan_id, created_at desc, id desc) where plan_id is not null;
drop index if exists end_users_plan;
`
