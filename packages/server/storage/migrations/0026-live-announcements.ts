/**
 * What changes for a whole organization or below it is announced to the environments of its projects that are not deleted. A deletion is
 * announced to the environments of its own project (announce_project), and nothing serves those from then on.
 */
export const liveAnnouncements = `
create or replace function announce_organization() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', e.id::text) from projects p join environments e on e.project_id = p.id
    where p.org_id = coalesce(new.id, old.id) and p.deleted_at is null;
  return null;
end $$;
create or replace function announce_below() returns trigger language plpgsql as $$
declare
  changed jsonb;
begin
  if tg_op = 'DELETE' then changed := to_jsonb(old); else changed := to_jsonb(new); end if;
  perform pg_notify('rideau_config', e.id::text) from projects p join environments e on e.project_id = p.id
    where p.org_id = (changed->>'org_id')::uuid and p.deleted_at is null
      and (changed->>'project_id' is null or p.id = (changed->>'project_id')::uuid)
      and (changed->>'environment_id' is null or e.id = (changed->>'environment_id')::uuid);
  return null;
end $$;
`
