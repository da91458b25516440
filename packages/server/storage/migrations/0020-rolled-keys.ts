/** Limits, quotas and budgets of a key bind the key that replaces it too, and count the requests of both together. */
export const rolledKeys = `
-- The first of the keys that replaced one another; the key itself if it replaced none.
alter table keys add column if not exists original_id uuid references keys;
with recursive chain as (
  select k.id, k.id as original_id, k.rolled_to from keys k
    where not exists (select from keys old where old.rolled_to = k.id)
  union all
  select k.id, chain.original_id, k.rolled_to from chain join keys k on k.id = chain.rolled_to
)
update keys set original_id = chain.original_id from chain where chain.id = keys.id;
alter table keys alter column original_id set not null;
create index if not exists keys_original on keys (original_id);

-- What the requests of scope_ref are counted under: the original key of a key, else the same.
alter table limits add column if not exists counted_ref text;
alter table quotas add column if not exists counted_ref text;
alter table budgets add column if not exists counted_ref text;
create or replace function set_counted_ref() returns trigger language plpgsql as $$
begin
  new.counted_ref := new.scope_ref::text;
  if new.scope = 'key' then
    -- Without a key the rule must count nothing: null would be everything.
    new.counted_ref := coalesce((select original_id::text from keys where id = new.scope_ref::uuid), new.counted_ref);
  end if;
  return new;
end $$;
create or replace trigger counted_ref before insert or update of scope, scope_ref on limits
  for each row execute function set_counted_ref();
create or replace trigger counted_ref before insert or update of scope, scope_ref on quotas
  for each row execute function set_counted_ref();
create or replace trigger counted_ref before insert or update of scope, scope_ref on budgets
  for each row execute function set_counted_ref();

-- From now on a rule goes to the key that replaces its own.
create temporary table newest on commit drop as
  select old.id, new.id as newest_id from keys old join keys new on new.original_id = old.original_id and new.rolled_to is null;
update limits set scope_ref = newest_id::text from newest n where scope = 'key' and scope_ref = n.id::text;
update quotas set scope_ref = newest_id::text from newest n where scope = 'key' and scope_ref = n.id::text;
update budgets set scope_ref = newest_id from newest n where scope = 'key' and scope_ref = n.id;
update limits set scope_ref = scope_ref where scope <> 'key';
update quotas set scope_ref = scope_ref where scope <> 'key';
update budgets set scope_ref = scope_ref where scope <> 'key';
`
