/** From now on limits, quotas and budgets of a key go to the key that replaces it, and count the requests of both together. */
export const rolledKeys = `
-- The first of the keys that replaced one another; the key itself if it replaced none. Keys that were rolled before stay apart: their
-- replacements may have rules of their own instead.
alter table keys add column if not exists original_id uuid references keys;
update keys set original_id = id where original_id is null;
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
    -- A rule without its key must count nothing. Null would be everything.
    new.counted_ref := coalesce((select original_id::text from keys where id = new.scope_ref::uuid), new.counted_ref);
  end if;
  return new;
end $$;
create or replace trigger counted_ref before insert or update of scope, scope_ref, counted_ref on limits
  for each row execute function set_counted_ref();
create or replace trigger counted_ref before insert or update of scope, scope_ref, counted_ref on quotas
  for each row execute function set_counted_ref();
create or replace trigger counted_ref before insert or update of scope, scope_ref, counted_ref on budgets
  for each row execute function set_counted_ref();
update limits set scope_ref = scope_ref where scope_ref is not null and counted_ref is null;
update quotas set scope_ref = scope_ref where scope_ref is not null and counted_ref is null;
update budgets set scope_ref = scope_ref where scope_ref is not null and counted_ref is null;
create index if not exists limits_key on limits (counted_ref) where scope = 'key';
create index if not exists quotas_key on quotas (counted_ref) where scope = 'key';
create index if not exists budgets_key on budgets (counted_ref) where scope = 'key';

-- Without statistics of the new column the planner would take every key for one of hundreds with the same original.
analyze keys;
`
