import type { JsonWebKey } from 'node:crypto'
import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { Role } from '../core/access/permissions.ts'
import type { CheckedLimit, Feedback, RequestRecord } from '../core/records/request-record.ts'
import type { EventTables } from './event-tables.ts'
import type { CustomModelTable, ModelAliasTable } from './model-tables.ts'
import type { PolicyTables } from './policy-tables.ts'

/**
 * The tables that queries are typed by; migrations/ defines them. A column has its reading type: timestamptz is a Date,
 * int8 a safe integer (pool.ts). `XRow` is a row as it is read. Where writing differs from reading (JSON columns,
 * defaults), `XTable` describes both and the row is `Selectable<XTable>`.
 */
export interface Database extends PolicyTables, EventTables {
  users: UserRow
  organizations: OrganizationRow
  members: MemberRow
  sessions: SessionRow
  password_resets: PasswordResetRow
  identities: IdentityRow
  management_keys: ManagementKeyRow
  projects: ProjectRow
  environments: EnvironmentRow
  keys: KeyRow
  provider_credentials: ProviderCredentialTable
  model_aliases: ModelAliasTable
  custom_models: CustomModelTable
  retired_master_keys: RetiredMasterKeyRow
  signing_keys: SigningKeyTable
  deployment: DeploymentTable
  request_logs: RequestLogTable
  idempotent_creates: IdempotentCreateRow
}

interface Timestamps {
  created_at: Date
  updated_at: Date
}

export interface UserRow extends Timestamps {
  id: string
  email: string
  name: string | null
  password_hash: string | null
  /**
   * True if the operator proved the address at set-up, or an OIDC issuer did. Otherwise only the organizations that the
   * account belongs to vouch for it, and other accounts may have the same address.
   */
  email_proven: boolean
}

export interface OrganizationRow extends Timestamps {
  id: string
  name: string
  slug: string
  time_zone: string
  deleted_at: Date | null
}

export interface MemberRow extends Timestamps {
  id: string
  org_id: string
  user_id: string | null
  role: Role
  invite_email: string | null
  invited_by: string | null
  accepted_at: Date | null
  /** SHA-256 of the invitation's token. null once the invitation was accepted. */
  invite_hash: Buffer | null
  invite_expires_at: Date | null
}

export interface SessionRow {
  id: string
  user_id: string
  hash: Buffer
  created_at: Date
  last_used_at: Date
  expires_at: Date
}

export interface PasswordResetRow {
  user_id: string
  hash: Buffer
  issued_by: string
  created_at: Date
  expires_at: Date
}

export interface IdentityRow {
  issuer: string
  subject: string
  user_id: string
  created_at: Date
}

export interface ManagementKeyRow extends Timestamps {
  id: string
  org_id: string
  name: string
  role: Exclude<Role, 'owner'>
  /** The user; null: unknown. */
  created_by: string | null
  hash: Buffer
  prefix_display: string
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export interface ProjectRow extends Timestamps {
  id: string
  org_id: string
  name: string
  slug: string
  allowed_origins: string[]
  deleted_at: Date | null
}

export interface EnvironmentRow extends Timestamps {
  id: string
  org_id: string
  project_id: string
  name: 'development' | 'production'
  is_default: boolean
  log_retention_days: number
  log_capture: 'full' | 'metadata'
  allowed_models: string[] | null
  unsupported_params: 'refuse' | 'drop'
  on_client_gone: 'cancel' | 'drain'
  allow_client_passthrough: boolean
  allow_secret_key_in_browser: boolean
}

export interface KeyRow extends Timestamps {
  id: string
  /** The first of the keys that replaced one another; the key's own id if it replaced none. */
  original_id: string
  org_id: string
  project_id: string
  environment_id: string
  kind: 'secret' | 'publishable'
  name: string
  hash: Buffer
  prefix_display: string
  publishable_cipher: Buffer | null
  scopes: string[]
  allowed_models: string[] | null
  allowed_endpoints: string[] | null
  max_request_cost_nano_usd: number | null
  expires_at: Date | null
  revoked_at: Date | null
  rolled_to: string | null
  last_used_at: Date | null
}

export interface ProviderCredentialTable extends Timestamps {
  id: string
  org_id: string
  project_id: string
  environment_id: string
  provider: string
  name: string
  secret_cipher: Buffer
  key_fingerprint: string
  base_url: string | null
  /** The options, without secret ones. */
  options: JSONColumnType<Record<string, unknown>>
  /** JSON of the secret options (secret-options.ts); null: there are none. */
  options_cipher: Generated<Buffer | null>
  weight: number
  last_validated_at: Date | null
  validation_error: string | null
  discovered_models: Generated<string[]>
  /** When its list of models is asked for again; null: never. */
  refresh_at: Generated<Date | null>
  /** Failed requests for the list since the last one that succeeded. */
  refresh_failures: Generated<number>
}

export interface SigningKeyTable {
  id: string
  kid: string
  public_jwk: JSONColumnType<JsonWebKey>
  private_cipher: Buffer | null
  activates_at: Date
  created_at: Date
}

/** One row: what belongs to the whole deployment. */
export interface DeploymentTable {
  only_row: Generated<boolean>
  password_salt_key: Buffer
  device_salt_key: Generated<Buffer>
}

/** A request record with the columns that storage adds. `at` is a Date here and a string in the journal. */
export type RequestLogTable = Omit<
  RequestRecord,
  'at' | 'attempts' | 'metadata' | 'dropped_params' | 'checked_limits'
> & {
  at: Date
  ended_at: Date
  /** When the row was sent to the database. null: by an earlier version. */
  stored_at: ColumnType<Date | null, never, never>
  attempts: JSONColumnType<RequestRecord['attempts']>
  metadata: JSONColumnType<Record<string, string>> | null
  /** null also in rows of earlier versions, as in the next column. */
  dropped_params: JSONColumnType<string[]> | null
  checked_limits: JSONColumnType<CheckedLimit[]> | null
  feedback: JSONColumnType<Feedback> | null
}

/** Master keys that a rotation has retired (migrations/0001-initial/master-key-guard.ts). */
export interface RetiredMasterKeyRow {
  key_id: Buffer
  retired_at: Date
}

/** An answer that a repeated create gets again (migrations/0005-creates-and-caps.ts). */
export interface IdempotentCreateRow {
  id: string
  hash: Buffer
  org_id: string
  expires_at: Date
  answer_cipher: Buffer
}
