import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import { allModels } from '@rideau/llm/providers/catalog'
import { defineOperation } from '../operation/operation.ts'
import { cutPage, listOf, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { PricingResource } from './pricing-resource.ts'

const CatalogModelResource = z
  .strictObject({
    /** `provider/model`, as a request names it. */
    id: z.string(),
    provider: z.string(),
    display_name: z.string(),
    context_window: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    capabilities: z.array(z.string()),
    pricing: PricingResource,
  })
  .meta({ id: 'CatalogModel' })

export const listCatalogModels = defineOperation('GET /v1/catalog/models', {
  name: 'catalog.list_models',
  summary: 'All models of the catalogue with their prices, by id.',
  access: { role: 'viewer', of: 'actor' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(CatalogModelResource) },
  handle: async ({ query }) => cutPage(query, ['catalog.list_models'], resources),
})

/** The catalogue is part of the app and does not change while the app runs. */
const resources = allModels().map(({ provider, model }) => toCatalogModelResource(provider, model))

function toCatalogModelResource(
  provider: string,
  model: CatalogModel,
): z.output<typeof CatalogModelResource> {
  const { pricing } = model
  return {
    id: `${provider}/${model.id}`,
    provider,
    display_name: model.display_name,
    context_window: model.context_window,
    max_output_tokens: model.max_output_tokens,
    capabilities: [...model.capabilities],
    pricing:
      pricing === null
        ? null
        : {
            input_usd_per_mtok: pricing.input,
            output_usd_per_mtok: pricing.output,
            cached_input_usd_per_mtok: pricing.cache_read ?? null,
            cache_write_usd_per_mtok: pricing.cache_write ?? null,
          },
  }
}
