import { toListedImagePrices } from '@rideau/llm/images/listed-image-prices'
import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import { allModels } from '@rideau/llm/providers/catalog'
import { capabilityField } from '../operation/capability-field.ts'
import { textParam } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { cutPage, listOf, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { ImagePricingResource, PricingResource } from './pricing-resource.ts'

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
    image_pricing: ImagePricingResource,
  })
  .meta({ id: 'CatalogModel' })

export const listCatalogModels = defineOperation('GET /v1/catalog/models', {
  name: 'catalog.list_models',
  summary: 'All models of the catalogue with their prices, by id.',
  access: { role: 'viewer', of: 'actor' },
  query: z.strictObject({
    ...pageQuery,
    provider: textParam(64).optional().meta({ description: 'Models of this provider only.' }),
    capability: capabilityField.optional().meta({ description: 'Models that can do this only.' }),
    q: textParam(200).optional().meta({
      description: 'Models whose id or name contains this text, in any case.',
    }),
  }),
  response: { 200: listOf(CatalogModelResource) },
  handle: async ({ query }) => {
    const { provider, capability, q } = query
    const text = q?.toLowerCase()
    const found = resources.filter(
      model =>
        (provider === undefined || model.provider === provider) &&
        (capability === undefined || model.capabilities.includes(capability)) &&
        (text === undefined ||
          model.id.toLowerCase().includes(text) ||
          model.display_name.toLowerCase().includes(text)),
    )
    const binding = ['catalog.list_models', provider ?? null, text ?? null, capability ?? null]
    return cutPage(query, binding, found)
  },
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
    image_pricing: toListedImagePrices(model.image_pricing),
  }
}
