import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import type { ModelPricing } from '@rideau/llm/provider/prices'
import type { Alias } from '../../core/tenancy/tenancy.ts'
import type { AliasTargetRow, CustomModelTable, ModelAliasTable, PricingRow } from '../model-tables.ts'

export type AliasPart = Pick<ModelAliasTable, 'alias' | 'strategy'> & { targets: AliasTargetRow[] }

export type CustomModelPart = Pick<
  CustomModelTable,
  'model' | 'capabilities' | 'context_window' | 'max_output_tokens'
> & { pricing: PricingRow | null }

export function toAlias({ alias, strategy, targets }: AliasPart): Alias {
  return {
    name: alias,
    strategy,
    targets: targets.map(target => ({
      model: target.model,
      weight: target.weight,
      timeoutMs: target.timeout_ms,
      maxRetries: target.max_retries,
    })),
  }
}

/** The model in the shape of the catalogue's models. Its id is the name without the provider: what the provider calls it. */
export function toCustomModel(part: CustomModelPart): CatalogModel {
  const id = part.model.slice(part.model.indexOf('/') + 1)
  return {
    id,
    display_name: id,
    context_window: part.context_window,
    max_output_tokens: part.max_output_tokens,
    capabilities: part.capabilities,
    pricing: part.pricing === null ? null : toPricing(part.pricing),
  }
}

function toPricing(row: PricingRow): ModelPricing {
  return {
    input: row.input_usd_per_mtok,
    output: row.output_usd_per_mtok,
    ...(row.cached_input_usd_per_mtok === null ? {} : { cache_read: row.cached_input_usd_per_mtok }),
    ...(row.cache_write_usd_per_mtok === null ? {} : { cache_write: row.cache_write_usd_per_mtok }),
  }
}
