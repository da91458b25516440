/** The guard of 0004 on the sealed columns that came after it: see storage/sealed-columns.ts. */
export const sql = `
create trigger refuse_retired before insert or update of secret_cipher on webhooks for each row
  execute function refuse_retired_master_key('secret_cipher');
create trigger refuse_retired before insert or update of device_check_cipher on device_auth for each row
  when (new.device_check_cipher is not null) execute function refuse_retired_master_key('device_check_cipher');
`
