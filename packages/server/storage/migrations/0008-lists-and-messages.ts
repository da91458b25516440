/** When the list of models of each provider credential is asked for again, and what a provider said of a failed request. */
export const listsAndMessages = `
-- null: never, because its provider has no list.
alter table provider_credentials add column if not exists refresh_at timestamptz;
-- Failed requests for the list since the last one that succeeded.
alter table provider_credentials add column if not exists refresh_failures integer not null default 0;
create index if not exists provider_credentials_refresh on provider_credentials (refresh_at)
  where refresh_at is not null;

-- No snapshot holds these columns either, so their updates notify nobody.
drop trigger if exists announce_update on provider_credentials;
create trigger announce_update after update on provider_credentials for each row
  when (to_jsonb(old) - '{last_validated_at,validation_error,updated_at,refresh_at,refresh_failures}'::text[]
    is distinct from
    to_jsonb(new) - '{last_validated_at,validation_error,updated_at,refresh_at,refresh_failures}'::text[])
  execute function announce_environment();

-- Credentials from before this migration follow within an hour.
update provider_credentials set refresh_at = now() + random() * interval '1 hour'
  where provider <> 'sandbox' and refresh_at is null;

-- The provider's own message of a request that it refused as invalid, without keys. Never of a client token's request.
alter table request_logs add column if not exists provider_message text;
`
