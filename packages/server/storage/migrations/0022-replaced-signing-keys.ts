/** Removing a key that may still sign ends its tokens at every gateway (storage/changes/config-notifications.ts). */
export const replacedSigningKeys = `
create or replace function announce_signing_keys() returns trigger language plpgsql as $$
begin
  perform pg_notify('rideau_config', 'signing_keys');
  return null;
end $$;
-- The schedule removes keys long after their last token has expired, and has erased their private parts before.
create or replace trigger announce_delete after delete on signing_keys for each row
  when (old.private_cipher is not null) execute function announce_signing_keys();
`
