import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import { allModels } from '@rideau/llm/providers/catalog'
import { toListedPrices } from '@rideau/llm/providers/listed-prices'
import { listCredentialProviders } from '../../storage/models/provider-credentials.ts'
import { capabilityField } from '../operation/capability-field.ts'
import { textParam } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { cutPage, listOf, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import {
  AudioPricingResource,
  ImagePricingResource,
  PricingResource,
  RerankPricingResource,
} from './pricing-resource.ts'

const FIELDS = {
  /** `provider/model`, as a request names it. */
  id: z.string(),
  provider: z.string(),
  display_name: z.string(),
  context_window: z.int().nullable(),
  max_output_tokens: z.int().nullable(),
  capabilities: z.array(z.string()),
  pricing: PricingResource,
  image_pricing: ImagePricingResource,
  audio_pricing: AudioPricingResource,
  rerank_pricing: RerankPricingResource,
}
const CatalogModelResource = z.strictObject(FIELDS).meta({ id: 'CatalogModel' })
type CatalogModelRecord = z.output<typeof CatalogModelResource>

const CallableModelResource = z
  .strictObject({
    ...FIELDS,
    is_callable: z.boolean().meta({ description: 'The environment has a credential of its provider.' }),
  })
  .meta({ id: 'CallableModel' })

const CatalogQuery = z.strictObject({
  ...pageQuery,
  provider: textParam(64).optional().meta({ description: 'Models of this provider only.' }),
  capability: capabilityField.optional().meta({ description: 'Models that can do this only.' }),
  q: textParam(200).optional().meta({
    description: 'Models whose id or name contains this text, in any case.',
  }),
})

export const listCatalogModels = defineOperation('GET /v1/catalog/models', {
  name: 'catalog.list_models',
  summary: 'All models of the catalogue with their prices, by id.',
  access: { role: 'viewer', of: 'actor' },
  query: CatalogQuery,
  response: { 200: listOf(CatalogModelResource) },
  handle: async ({ query }) =>
    cutPage(query, ['catalog.list_models', ...toBinding(query)], listMatching(query)),
})

export const listCallableModels = defineOperation('GET /v1/environments/{envId}/catalog', {
  name: 'catalog.list_for_environment',
  summary:
    'The catalogue as it is for an environment: first the models whose provider it has a credential of.',
  access: { role: 'viewer', of: 'environment' },
  query: CatalogQuery,
  response: { 200: listOf(CallableModelResource) },
  handle: async ({ services: { db }, resource, query }) => {
    const providers = new Set(await listCredentialProviders(db, resource.id))
    const found = listMatching(query).map(model => ({ ...model, is_callable: providers.has(model.provider) }))
    const binding = ['catalog.list_for_environment', resource.id, ...toBinding(query)]
    return cutPage(query, binding, found, model => `${model.is_callable ? 0 : 1} ${model.id}`)
  },
})

function listMatching({ provider, capability, q }: z.output<typeof CatalogQuery>): CatalogModelRecord[] {
  const text = q?.toLowerCase()
  return resources.filter(
    model =>
      (provider === undefined || model.provider === provider) &&
      (capability === undefined || model.capabilities.includes(capability)) &&
      (text === undefined ||
        model.id.toLowerCase().includes(text) ||
        model.display_name.toLowerCase().includes(text)),
  )
}

function toBinding({ provider, capability, q }: z.output<typeof CatalogQuery>): unknown[] {
  return [provider ?? null, q?.toLowerCase() ?? null, capability ?? null]
}

/** The catalogue is part of the app and does not change while the app runs. */
const resources = allModels().map(({ provider, model }) => toCatalogModelResource(provider, model))

function toCatalogModelResource(provider: string, model: CatalogModel): CatalogModelRecord {
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
    ...toListedPrices(model),
  }
}
