/** What client tokens are signed by (core/signing-schedule.ts), and who stands behind those that no key minted. */
export const sql = `
create table signing_keys (
  id uuid primary key,
  -- RFC 7638 thumbprint of the public key.
  kid text not null unique,
  public_jwk jsonb not null,
  -- PKCS 8 in PEM, sealed (core/secret-box.ts); null once its time to sign is over.
  private_cipher bytea,
  activates_at timestamptz not null,
  created_at timestamptz not null
);
create trigger refuse_retired before insert or update of private_cipher on signing_keys for each row
  when (new.private_cipher is not null) execute function refuse_retired_master_key('private_cipher');

-- A member's or a management key's token of the playground ends with its rights.
create trigger announce_update after update on members for each row
  when (old.role is distinct from new.role) execute function announce_below();
create trigger announce_delete after delete on members for each row execute function announce_below();
create trigger announce_update after update on management_keys for each row
  when ((old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at))
  execute function announce_below();
create trigger announce_delete after delete on management_keys for each row execute function announce_below();
`
