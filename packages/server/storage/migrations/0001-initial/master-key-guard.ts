/**
 * Triggers that reject secrets encrypted under a master key that a rotation has retired. A process that missed the
 * rotation then fails at once; without the guard it would store secrets that no key can decrypt later. Every column of
 * storage/secrets/sealed-columns.ts needs a trigger here.
 */
export const masterKeyGuard = `
create table retired_master_keys (
  -- The id that sealed values carry in bytes 2 to 9 (core/access/secret-box.ts).
  key_id bytea primary key,
  retired_at timestamptz not null
);

-- The trigger's argument is the name of the sealed column.
create function refuse_retired_master_key() returns trigger language plpgsql as $$
declare
  sealed bytea;
begin
  execute format('select ($1).%I', tg_argv[0]) using new into sealed;
  if exists (select from retired_master_keys where key_id = substring(sealed from 2 for 8)) then
    raise exception 'sealed under a master key that was rotated out: restart this process with the current master key';
  end if;
  return new;
end $$;

create trigger refuse_retired before insert or update of secret_cipher on provider_credentials for each row
  execute function refuse_retired_master_key('secret_cipher');
create trigger refuse_retired before insert or update of publishable_cipher on keys for each row
  when (new.publishable_cipher is not null) execute function refuse_retired_master_key('publishable_cipher');
create trigger refuse_retired before insert or update of private_cipher on signing_keys for each row
  when (new.private_cipher is not null) execute function refuse_retired_master_key('private_cipher');
create trigger refuse_retired before insert or update of device_check_cipher on device_auth for each row
  when (new.device_check_cipher is not null) execute function refuse_retired_master_key('device_check_cipher');
create trigger refuse_retired before insert or update of secret_cipher on webhooks for each row
  execute function refuse_retired_master_key('secret_cipher');
`
