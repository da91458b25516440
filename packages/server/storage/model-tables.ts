import type { Capability } from '@rideau/llm/provider/catalog-model'
import type { JSONColumnType, Selectable } from 'kysely'
import type { AliasStrategy } from '../core/tenancy/tenancy.ts'

/** Tables of migrations/0001-initial/models.ts. */
export interface ModelAliasTable {
  id: string
  org_id: string
  project_id: string
  environment_id: string
  alias: string
  strategy: AliasStrategy
  targets: JSONColumnType<AliasTargetRow[]>
  created_at: Date
  updated_at: Date
}

export type ModelAliasRow = Selectable<ModelAliasTable>

export interface AliasTargetRow {
  model: string
  weight: number | null
  timeout_ms: number | null
  max_retries: number | null
}

export interface CustomModelTable {
  id: string
  org_id: string
  project_id: string
  environment_id: string
  /** `provider/model` */
  model: string
  capabilities: Capability[]
  context_window: number | null
  max_output_tokens: number | null
  pricing: JSONColumnType<PricingRow> | null
  created_at: Date
  updated_at: Date
}

export type CustomModelRow = Selectable<CustomModelTable>

/** USD per million tokens, with the API's field names. */
export interface PricingRow {
  input_usd_per_mtok: number
  output_usd_per_mtok: number
  cached_input_usd_per_mtok: number | null
  cache_write_usd_per_mtok: number | null
}
