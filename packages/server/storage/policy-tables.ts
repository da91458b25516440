import type { GeneratedAlways, JSONColumnType } from 'kysely'
import type { DevicePlatform } from '../core/tenancy/device-auth.ts'
import type { OnTight } from '../core/tenancy/policies.ts'
import type { CalendarWindow, Window } from '../core/tenancy/windows.ts'

/** Tables of migrations/0001-initial/policies.ts and 0003-devices.ts. */
export interface PolicyTables {
  limits: RuleTable<LimitRow>
  quotas: RuleTable<QuotaRow>
  budgets: RuleTable<BudgetRow>
  plans: PlanRow
  end_users: EndUserTable
  federated_auth: FederatedAuthTable
  device_auth: DeviceAuthRow
  devices: DeviceTable
  device_challenges: DeviceChallengeRow
}

interface Timestamps {
  created_at: Date
  updated_at: Date
}

interface EnvironmentScoped extends Timestamps {
  id: string
  org_id: string
  project_id: string
  environment_id: string
}

/** A trigger sets what is counted (migrations/0020-rolled-keys.ts). */
type RuleTable<Row extends { counted_ref: string | null }> = Omit<Row, 'counted_ref'> & {
  counted_ref: GeneratedAlways<string | null>
}

export interface LimitRow extends Timestamps {
  id: string
  org_id: string
  /** Both null: the limit belongs to the organization. */
  project_id: string | null
  environment_id: string | null
  scope: 'org' | 'project' | 'environment' | 'key' | 'end_user' | 'default_end_user'
  scope_ref: string | null
  /** What the requests of scope_ref are counted under: the original key of a key, else the same. */
  counted_ref: string | null
  metric: 'requests' | 'tokens' | 'concurrency'
  limit: number
  window_seconds: number | null
}

export interface QuotaRow extends EnvironmentScoped {
  scope: 'environment' | 'key' | 'end_user' | 'default_end_user'
  scope_ref: string | null
  counted_ref: string | null
  metric: 'requests' | 'tokens'
  window: CalendarWindow
  limit: number
  grace_pct: number
}

export interface BudgetRow extends Timestamps {
  id: string
  org_id: string
  /** null: the budget belongs to the organization. */
  project_id: string | null
  /** null: the budget covers its whole project or organization. */
  scope: 'environment' | 'key' | null
  scope_ref: string | null
  counted_ref: string | null
  limit_nano_usd: number
  window: Exclude<Window, 'hour'>
  alert_pcts: number[]
  /** What happens to a request whose maximum output does not fit what is left. */
  on_tight: OnTight
}

export interface PlanRow extends EnvironmentScoped {
  name: string
  allowed_models: string[] | null
  scopes: string[] | null
  requests_per_minute: number | null
  max_concurrency: number | null
  tokens_per_day: number | null
  nano_usd_per_month: number | null
  is_default: boolean
  /** Nobody has the plan from then on. Its end users still name it until storage/policies/deleted-plans.ts takes it from them. */
  deleted_at: Date | null
}

export interface EndUserTable extends EnvironmentScoped {
  external_id: string
  plan_id: string | null
  attributes: JSONColumnType<Record<string, unknown>>
  blocked_at: Date | null
}

export interface FederatedAuthTable extends Timestamps {
  project_id: string
  org_id: string
  issuers: string[]
  /** Either these or the authorized parties are empty. */
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

export interface DeviceAuthRow extends Timestamps {
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

export interface DeviceTable extends EnvironmentScoped {
  platform: DevicePlatform
  key_id: Buffer
  public_key: Buffer
  app_id: string
  sign_count: number
  receipt: Buffer | null
  statement: JSONColumnType<Record<string, unknown>>
}

export interface DeviceChallengeRow {
  hash: Buffer
  org_id: string
  environment_id: string
  expires_at: Date
}
