/**
 * Triggers that notify the channel rideau_config with the id of each environment whose snapshot a change affects. The
 * database notifies in the transaction of the change, so no writer can forget to. storage/changes/config-notifications.ts
 * subscribes; docs/decisions/0007 gives the reasons. A table that snapshots read needs a trigger here.
 */
export const changeNotifications = `
create function announce_self() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', coalesce(new.id, old.id)::text);
  return null;
end $$;
create function announce_environment() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', coalesce(new.environment_id, old.environment_id)::text);
  return null;
end $$;
create function announce_project() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', e.id::text) from environments e where e.project_id = coalesce(new.id, old.id);
  return null;
end $$;
create function announce_organization() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', e.id::text) from environments e where e.org_id = coalesce(new.id, old.id);
  return null;
end $$;
-- For tables whose rows belong to an organization, a project or an environment: every environment below the row's owner.
create function announce_below() returns trigger language plpgsql as $$
declare
  changed jsonb;
begin
  if tg_op = 'DELETE' then changed := to_jsonb(old); else changed := to_jsonb(new); end if;
  perform pg_notify('rideau_config', e.id::text) from environments e
    where e.org_id = (changed->>'org_id')::uuid
      and (changed->>'project_id' is null or e.project_id = (changed->>'project_id')::uuid)
      and (changed->>'environment_id' is null or e.id = (changed->>'environment_id')::uuid);
  return null;
end $$;

-- Tenancy
create trigger announce after update or delete on organizations for each row execute function announce_organization();
create trigger announce after update or delete on projects for each row execute function announce_project();
create trigger announce after insert or update or delete on environments for each row execute function announce_self();

-- Client tokens of the playground act for a member or a management key and end with its rights.
create trigger announce_update after update on members for each row
  when (old.role is distinct from new.role) execute function announce_below();
create trigger announce_delete after delete on members for each row execute function announce_below();
create trigger announce_update after update on management_keys for each row
  when ((old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at))
  execute function announce_below();
create trigger announce_delete after delete on management_keys for each row execute function announce_below();

-- Credentials. Updates of columns that snapshots do not hold (last use, validation result) notify nobody.
create trigger announce after insert or delete on keys for each row execute function announce_environment();
create trigger announce_update after update on keys for each row
  when (to_jsonb(old) - '{last_used_at,updated_at}'::text[] is distinct from
    to_jsonb(new) - '{last_used_at,updated_at}'::text[])
  execute function announce_environment();
create trigger announce after insert or delete on provider_credentials for each row
  execute function announce_environment();
create trigger announce_update after update on provider_credentials for each row
  when (to_jsonb(old) - '{last_validated_at,validation_error,updated_at}'::text[] is distinct from
    to_jsonb(new) - '{last_validated_at,validation_error,updated_at}'::text[])
  execute function announce_environment();

-- Models
create trigger announce after insert or update or delete on model_aliases for each row
  execute function announce_environment();
create trigger announce after insert or update or delete on custom_models for each row
  execute function announce_environment();

-- Policies
create trigger announce after insert or update or delete on limits for each row execute function announce_below();
create trigger announce after insert or update or delete on quotas for each row execute function announce_environment();
create trigger announce after insert or update or delete on budgets for each row execute function announce_below();
create trigger announce after insert or update or delete on plans for each row execute function announce_environment();
create trigger announce after insert or update or delete on federated_auth for each row execute function announce_below();
create trigger announce after insert or update or delete on device_auth for each row execute function announce_below();
-- There may be millions of end users. One without a plan that is not blocked has the same rights as an unknown one, so
-- its changes notify nobody.
create trigger announce_insert after insert on end_users for each row
  when (new.plan_id is not null or new.blocked_at is not null) execute function announce_environment();
create trigger announce_update after update on end_users for each row
  when ((old.plan_id, old.blocked_at, old.external_id) is distinct from (new.plan_id, new.blocked_at, new.external_id))
  execute function announce_environment();
create trigger announce_delete after delete on end_users for each row
  when (old.plan_id is not null or old.blocked_at is not null) execute function announce_environment();
`
