/** A column for the secret options of provider credentials. storage/secrets/seal-clear-options.ts moves those of existing rows. */
export const secretOptions = `
-- JSON of the options that the provider's list calls secret, encrypted under the master key. null: there are none.
alter table provider_credentials add column if not exists options_cipher bytea;
drop trigger if exists refuse_retired_options on provider_credentials;
create trigger refuse_retired_options before insert or update of options_cipher on provider_credentials for each row
  when (new.options_cipher is not null) execute function refuse_retired_master_key('options_cipher');
`
