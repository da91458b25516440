/**
 * Row-level security, the second wall between tenants: a statement that forgets its filter still meets no row of
 * another organization. See docs/decisions/0008-row-security.md.
 */
export const sql = `
-- The organizations that the current transaction may touch; unset: none.
create function rideau_org_ids() returns uuid[] language sql stable parallel safe as $$
  select coalesce(nullif(current_setting('rideau.org_ids', true), ''), '{}')::uuid[]
$$;

-- The gateway, the writer and migrations name no organizations. Row-level security binds them only where the role
-- could not be made (see rideau_protect), and there this lets them by. It never lets the role by.
create function rideau_is_unscoped() returns boolean language sql stable parallel safe as $$
  select current_user <> 'rideau_control' and coalesce(current_setting('rideau.org_ids', true), '') = ''
$$;

-- Is the role there, and may the current user become it? A user who may create roles makes it.
create function rideau_has_role() returns boolean language plpgsql as $$
declare
  before text := current_setting('role');
begin
  if not exists (select from pg_roles where rolname = 'rideau_control') then
    begin
      create role rideau_control nologin;
    exception when insufficient_privilege or duplicate_object or unique_violation then null;
    end;
  end if;
  for attempt in 1..2 loop
    begin
      perform set_config('role', 'rideau_control', true);
      perform set_config('role', before, true);
      return true;
    exception when others then
      begin
        execute format('grant rideau_control to %I', current_user);
      exception when others then return false;
      end;
    end;
  end loop;
  return false;
end $$;

-- Puts every table of the schema behind the wall that is not yet. migrate.ts calls it after every run, so that no
-- later table can be forgotten. A partition is reached through its table only: the role has no right to it.
create function rideau_protect() returns void language plpgsql as $$
declare
  has_role boolean;
  t record;
begin
  perform pg_advisory_xact_lock(hashtextextended('rideau.protect', 0));
  has_role := rideau_has_role();
  if has_role and not has_schema_privilege('rideau_control', current_schema(), 'usage') then
    execute format('grant usage on schema %I to rideau_control', current_schema());
  end if;
  for t in
    select c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity,
      case when c.relname = 'organizations' then 'id'
        when exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id') then 'org_id'
      end as owner_column
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname !~ '^kysely_'
    order by c.relname
  loop
    if has_role and not has_table_privilege('rideau_control', t.oid, 'insert') then
      -- What was once noted stays noted.
      execute format('grant %s on %I to rideau_control',
        case when t.relname = 'audit_log' then 'select, insert' else 'select, insert, update, delete' end, t.relname);
    end if;
    if t.owner_column is not null then
      if not t.relrowsecurity then
        -- The sub-selects are asked once a statement, not once a row.
        execute format('create policy tenant on %I using (%I = any ((select rideau_org_ids())::uuid[])
          or (select rideau_is_unscoped()))', t.relname, t.owner_column);
        execute format('alter table %I enable row level security', t.relname);
      end if;
      if t.relforcerowsecurity = has_role then
        execute format('alter table %I %s row level security', t.relname,
          case when has_role then 'no force' else 'force' end);
      end if;
    end if;
  end loop;
end $$;

-- Until the transaction's end it may touch these organizations only: '{id,id}'.
create function rideau_enter(org_ids text) returns void language plpgsql as $$
begin
  perform set_config('rideau.org_ids', org_ids, true);
  -- Where the role could not be made, the policies bind the tables' owner itself.
  if not (select relforcerowsecurity from pg_class where oid = 'organizations'::regclass) then
    perform set_config('role', 'rideau_control', true);
  end if;
end $$;

-- Adds an organization that the transaction itself makes.
create function rideau_enter_also(org_id uuid) returns void language sql as $$
  select set_config('rideau.org_ids', array_append(rideau_org_ids(), org_id)::text, true)
$$;
`
