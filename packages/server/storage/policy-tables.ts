import type { JSONColumnType } from 'kysely'
import type { CalendarWindow, Window } from '../core/windows.ts'

/** The tables of migrations 0005 and 0010 as Kysely sees them. */
export interface PolicyTables {
  limits: LimitRow
  quotas: QuotaRow
  budgets: BudgetRow
  plans: PlanRow
  end_users: EndUserRow
  federated_auth: FederatedAuthRow
  device_auth: DeviceAuthRow
  webhooks: WebhookRow
  alerts: AlertRow
  webhook_deliveries: WebhookDeliveryRow
}

interface Stamped {
  created_at: Date
  updated_at: Date
}

interface InEnvironment extends Stamped {
  id: string
  org_id: string
  project_id: string
  environment_id: string
}

export interface LimitRow extends Stamped {
  id: string
  org_id: string
  /** Both null: made for the organization. */
  project_id: string | null
  environment_id: string | null
  scope: 'org' | 'project' | 'environment' | 'key' | 'end_user' | 'default_end_user'
  scope_ref: string | null
  metric: 'requests' | 'tokens' | 'concurrency'
  limit: number
  window_seconds: number | null
}

export interface QuotaRow extends InEnvironment {
  scope: 'environment' | 'key' | 'end_user' | 'default_end_user'
  scope_ref: string | null
  metric: 'requests' | 'tokens'
  window: CalendarWindow
  limit: number
  grace_pct: number
}

export interface BudgetRow extends Stamped {
  id: string
  org_id: string
  /** null: the organization's. */
  project_id: string | null
  /** null: the whole of the project or organization. */
  scope: 'environment' | 'key' | null
  scope_ref: string | null
  limit_nano_usd: number
  window: Exclude<Window, 'hour'>
  alert_pcts: number[]
}

export interface PlanRow extends InEnvironment {
  name: string
  allowed_models: string[] | null
  scopes: string[] | null
  requests_per_minute: number | null
  max_concurrency: number | null
  tokens_per_day: number | null
  nano_usd_per_month: number | null
  is_default: boolean
}

export interface EndUserRow extends InEnvironment {
  external_id: string
  plan_id: string | null
  attributes: JSONColumnType<Record<string, unknown>>
  blocked_at: Date | null
}

export interface FederatedAuthRow extends Stamped {
  project_id: string
  org_id: string
  issuers: string[]
  /** One of the two is empty. */
  audiences: string[]
  authorized_parties: string[]
  jwks_url: string | null
  algorithms: string[]
  user_id_claim: string
  plan_claim: string | null
  required_claims: JSONColumnType<Record<string, (string | number | boolean)[]>>
  clock_tolerance_seconds: number
  max_token_age_seconds: number
}

export interface DeviceAuthRow extends Stamped {
  project_id: string
  org_id: string
  ios_team_id: string | null
  ios_bundle_ids: string[] | null
  ios_environment: 'production' | 'development' | null
  device_check_key_id: string | null
  device_check_cipher: Buffer | null
  android_package_names: string[] | null
  android_signing_digests: string[] | null
}

export interface WebhookRow extends Stamped {
  id: string
  org_id: string
  url: string
  events: string[]
  secret_cipher: Buffer
}

export interface AlertRow {
  counter: string
  pct: number
  org_id: string
  raised_at: Date
  window_end: Date | null
}

export interface WebhookDeliveryRow {
  id: string
  org_id: string
  webhook_id: string
  event: string
  payload: string
  attempts: number
  next_attempt_at: Date | null
  delivered_at: Date | null
  failure: string | null
  created_at: Date
}
