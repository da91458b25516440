/**
 * Row-level security: a statement that forgets to filter by organization still reads and writes no row of another one.
 * storage/tenant-scope.ts enters a scope; docs/decisions/0008 gives the reasons.
 */
export const rowSecurity = `
-- The organizations that the current transaction may access. Without a scope: none.
create function rideau_org_ids() returns uuid[] language sql stable parallel safe as $$
  select coalesce(nullif(current_setting('rideau.org_ids', true), ''), '{}')::uuid[]
$$;

-- True in a transaction that entered no scope: the gateway, jobs and migrations. Where the role rideau_control could not
-- be created, the policies apply to the tables' owner too, and this lets its transactions without a scope pass. It is
-- always false for the role.
create function rideau_is_unscoped() returns boolean language sql stable parallel safe as $$
  select current_user <> 'rideau_control' and coalesce(current_setting('rideau.org_ids', true), '') = ''
$$;

-- True if the role rideau_control exists and the current user can switch to it. Creates and grants the role if the user
-- has the right to.
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

-- Adds the policy and the grants to every table of the schema that lacks them. storage/migrate.ts calls it after each
-- run, so no new table can be forgotten. The role gets no right to a partition: it reaches the rows through the parent.
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
      -- The audit log is append-only.
      execute format('grant %s on %I to rideau_control',
        case when t.relname = 'audit_log' then 'select, insert' else 'select, insert, update, delete' end, t.relname);
    end if;
    if t.owner_column is not null then
      if not t.relrowsecurity then
        -- Sub-selects are evaluated once a statement; plain calls would be evaluated once a row.
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

-- Restricts the transaction to these organizations, given as an array literal: '{id,id}'.
create function rideau_enter(org_ids text) returns void language plpgsql as $$
begin
  perform set_config('rideau.org_ids', org_ids, true);
  -- With FORCE ROW LEVEL SECURITY the role is missing, and the policies apply to the owner itself.
  if not (select relforcerowsecurity from pg_class where oid = 'organizations'::regclass) then
    perform set_config('role', 'rideau_control', true);
  end if;
end $$;

-- Extends the transaction's scope by an organization that the transaction is about to create.
create function rideau_enter_also(org_id uuid) returns void language sql as $$
  select set_config('rideau.org_ids', array_append(rideau_org_ids(), org_id)::text, true)
$$;
`
