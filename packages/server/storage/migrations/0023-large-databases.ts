/** Indexes for many organizations and end users, and plans that are deleted in short steps. */
export const largeDatabases = `
-- Until the migrations end, plans and end users can be neither read nor written, and the other tables only be read. Indexes are built in
-- about a second per million rows; that of the end users takes up to 20 s where ten million of them have a plan. All tables are locked
-- before the first index is built: a transaction that had read a plan, and then waited for an index of the end users, would be in a deadlock
-- with what follows.
lock table plans, end_users in access exclusive mode;
lock table environments, budgets, quotas, members in share mode;

create index if not exists environments_org on environments (org_id);
create index if not exists budgets_owner on budgets (org_id, id);
create index if not exists quotas_owner on quotas (org_id, id);
create index if not exists members_invited on members (invite_email, created_at desc, id desc) where accepted_at is null;

-- A plan that is deleted is marked. Nobody has it from then on, and its name is free. storage/policies/deleted-plans.ts takes it from its
-- end users in steps and then removes the row.
alter table plans add column if not exists deleted_at timestamptz;
drop index if exists plans_name;
create unique index plans_name on plans (environment_id, name) where deleted_at is null;
create index if not exists plans_deleted on plans (id) where deleted_at is not null;

-- The end users of a plan, newest first. 0011 did not make it: an index of the initial schema had the name.
create index if not exists end_users_plan_list on end_users (plan_id, created_at desc, id desc) where plan_id is not null;
drop index if exists end_users_plan;

-- An end user that loses a deleted plan is what it was since the plan was deleted, so nobody is notified.
create or replace function announce_end_user() returns trigger language plpgsql as $$
begin
  if new.plan_id is null and (old.blocked_at, old.external_id) is not distinct from (new.blocked_at, new.external_id)
    and exists (select from plans where id = old.plan_id and deleted_at is not null) then
    return null;
  end if;
  perform pg_notify('rideau_config', new.environment_id::text);
  return null;
end $$;
create or replace trigger announce_update after update on end_users for each row
  when ((old.plan_id, old.blocked_at, old.external_id) is distinct from (new.plan_id, new.blocked_at, new.external_id))
  execute function announce_end_user();
`
