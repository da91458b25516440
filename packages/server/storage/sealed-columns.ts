/** A column that holds secrets sealed under the master key (core/secret-box.ts). */
export interface SealedColumn {
  /** Also the first part of what each secret is bound to: `<table>:<id>`. */
  readonly table: string
  readonly column: string
  /** The column that names the row. */
  readonly id: string
  /** Where the secret's fingerprint stands, which the master key is part of. */
  readonly fingerprint?: string
}

/** Every one there is: a change of the master key goes through them all. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'provider_credentials',
    column: 'secret_cipher',
    id: 'id',
    fingerprint: 'key_fingerprint',
  },
  { table: 'keys', column: 'publishable_cipher', id: 'id' },
  { table: 'webhooks', column: 'secret_cipher', id: 'id' },
  { table: 'device_auth', column: 'device_check_cipher', id: 'project_id' },
  { table: 'signing_keys', column: 'private_cipher', id: 'id' },
]
