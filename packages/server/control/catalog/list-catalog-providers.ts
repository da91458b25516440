import type { Provider } from '@rideau/llm/provider/provider'
import { PROVIDERS } from '@rideau/llm/providers/index'
import { defineOperation } from '../operation/operation.ts'
import { cutPage, listOf, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

const CatalogProviderResource = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    /** The default of a credential's `base_url`; null: the credential must have one. */
    base_url: z.string().nullable(),
    /** `any`: the deployment behind the credential has its own models, so every name is accepted. */
    models: z.enum(['catalog', 'any']),
    sandbox: z.boolean(),
    credential_fields: z.array(z.strictObject({ name: z.string(), required: z.boolean() })),
  })
  .meta({ id: 'CatalogProvider' })

export const listCatalogProviders = defineOperation('GET /v1/catalog/providers', {
  name: 'catalog.list_providers',
  summary: 'All providers and the fields of a credential for each, by id.',
  access: { role: 'viewer', of: 'actor' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(CatalogProviderResource) },
  handle: async ({ query }) =>
    cutPage(query, ['catalog.list_providers'], PROVIDERS.map(toCatalogProviderResource)),
})

function toCatalogProviderResource(provider: Provider): z.output<typeof CatalogProviderResource> {
  const isSandbox = provider.sandbox === true
  return {
    id: provider.id,
    name: provider.name,
    // The sandbox calls no host: its address is a name that cannot exist.
    base_url: isSandbox ? null : provider.baseUrl,
    models: provider.models,
    sandbox: isSandbox,
    credential_fields: isSandbox
      ? []
      : [
          { name: 'api_key', required: provider.auth !== 'none' },
          { name: 'base_url', required: provider.baseUrl === null },
          ...(provider.options ?? []).map(({ name, required }) => ({ name: `options.${name}`, required })),
        ],
  }
}
