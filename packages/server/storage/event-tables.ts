import type { JSONColumnType } from 'kysely'

/** Tables of migrations/0001-initial/events.ts, 0006-circuits.ts and 0012-saved-views.ts. */
export interface EventTables {
  circuits: CircuitRow
  audit_log: AuditLogTable
  alerts: AlertRow
  webhooks: WebhookRow
  webhook_deliveries: WebhookDeliveryRow
  saved_views: SavedViewRow
}

export interface SavedViewRow {
  id: string
  user_id: string
  org_id: string
  environment_id: string
  page: string
  name: string
  search: string
  created_at: Date
  updated_at: Date
}

export interface CircuitRow {
  id: string
  org_id: string
  project_id: string
  environment_id: string
  credential_id: string
  provider: string
  model: string
  state: 'open' | 'closed'
  failure_rate: number
  opened_at: Date
  retry_at: Date | null
  updated_at: Date
  expires_at: Date
}

export interface AuditLogTable {
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

export interface WebhookRow {
  id: string
  org_id: string
  url: string
  events: string[]
  secret_cipher: Buffer
  created_at: Date
  updated_at: Date
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
