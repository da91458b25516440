import type { JsonWebKey } from 'node:crypto'
import type { Generated, JSONColumnType } from 'kysely'
import type { Role } from '../core/permissions.ts'
import type { Feedback, RequestRecord } from '../core/request-record.ts'
import type { CustomModelRow, ModelAliasRow, RetiredMasterKeyRow } from './model-tables.ts'
import type { PolicyTables } from './policy-tables.ts'

/** The tables as Kysely sees them; migrations/ is the truth. Times are Dates, int8 are safe numbers (pool.ts). */
export interface Database extends PolicyTables {
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
  provider_credentials: ProviderCredentialRow
  model_aliases: ModelAliasRow
  custom_models: CustomModelRow
  retired_master_keys: RetiredMasterKeyRow
  signing_keys: SigningKeyRow
  request_logs: RequestLogRow
  audit_log: AuditLogRow
}

interface Stamped {
  created_at: Date
  updated_at: Date
}

export interface UserRow extends Stamped {
  id: string
  email: string
  name: string | null
  password_hash: string | null
  /** Somebody besides the account itself vouched for its address: the operator at set-up, or the OIDC issuer. */
  email_proven: boolean
}

export interface OrganizationRow extends Stamped {
  id: string
  name: string
  slug: string
  time_zone: string
  deleted_at: Date | null
}

export interface MemberRow extends Stamped {
  id: string
  org_id: string
  user_id: string | null
  role: Role
  invite_email: string | null
  invited_by: string | null
  accepted_at: Date | null
  /** SHA-256 of the invitation's token; null once it was accepted. */
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

export interface ManagementKeyRow extends Stamped {
  id: string
  org_id: string
  name: string
  role: Exclude<Role, 'owner'>
  hash: Buffer
  prefix_display: string
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export interface ProjectRow extends Stamped {
  id: string
  org_id: string
  name: string
  slug: string
  allowed_origins: string[]
  deleted_at: Date | null
}

export interface EnvironmentRow extends Stamped {
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

export interface KeyRow extends Stamped {
  id: string
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

export interface ProviderCredentialRow extends Stamped {
  id: string
  org_id: string
  project_id: string
  environment_id: string
  provider: string
  name: string
  secret_cipher: Buffer
  key_fingerprint: string
  base_url: string | null
  options: JSONColumnType<Record<string, unknown>>
  weight: number
  last_validated_at: Date | null
  validation_error: string | null
  discovered_models: Generated<string[]>
}

export interface SigningKeyRow {
  id: string
  kid: string
  public_jwk: JSONColumnType<JsonWebKey>
  private_cipher: Buffer | null
  activates_at: Date
  created_at: Date
}

/** A journal record as stored: `at` is a Date here, a string in the journal. */
export type RequestLogRow = Omit<RequestRecord, 'at' | 'attempts' | 'metadata'> & {
  at: Date
  ended_at: Date
  attempts: JSONColumnType<RequestRecord['attempts']>
  metadata: JSONColumnType<Record<string, string>> | null
  feedback: JSONColumnType<Feedback> | null
}

export interface AuditLogRow {
  id: string
  at: Date
  org_id: string
  actor_kind: 'member' | 'management_key' | 'anonymous' | 'system'
  actor_id: string | null
  actor_name: string | null
  operation: string
  resource_kind: string
  resource_id: string | null
  before: JSONColumnType<object> | null
  after: JSONColumnType<object> | null
  client_address: string
  request_id: string
}
