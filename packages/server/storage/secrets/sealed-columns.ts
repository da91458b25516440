import { OPTIONS_CONTEXT } from './secret-options.ts'

/** A column with secrets that are encrypted under the master key (core/access/secret-box.ts). */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The first part of the context that each secret is bound to: `<context>:<id>`. Absent: the table. */
  readonly context?: string
  /** The column that identifies the row. */
  readonly id: string
  /** The column with the secret's fingerprint, which depends on the master key too. */
  readonly fingerprint?: string
  /** True: its values may have megabytes, so fewer of them are re-encrypted at once. */
  readonly isLarge?: boolean
}

/** All of them. A rotation of the master key re-encrypts each; the database guards each (master-key-guard.ts). */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'provider_credentials',
    column: 'secret_cipher',
    id: 'id',
    fingerprint: 'key_fingerprint',
  },
  { table: 'provider_credentials', column: 'options_cipher', id: 'id', context: OPTIONS_CONTEXT },
  { table: 'keys', column: 'publishable_cipher', id: 'id' },
  { table: 'webhooks', column: 'secret_cipher', id: 'id' },
  { table: 'device_auth', column: 'device_check_cipher', id: 'project_id' },
  { table: 'signing_keys', column: 'private_cipher', id: 'id' },
  { table: 'idempotent_creates', column: 'answer_cipher', id: 'id' },
  { table: 'idempotent_answers', column: 'answer_cipher', id: 'id', isLarge: true },
]
