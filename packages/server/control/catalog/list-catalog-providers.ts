import type { Provider } from '@rideau/llm/provider/provider'
import { PROVIDERS } from '@rideau/llm/providers/index'
import { defineOperation } from '../operation/operation.ts'
import { cutPage, listOf, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

/** One field of a form for a credential. */
const CredentialField = z.strictObject({
  name: z.string().meta({ description: 'In the body: `api_key`, `base_url`, or `options.` and a name.' }),
  required: z.boolean(),
  label: z.string(),
  help: z.string(),
  secret: z.boolean().meta({ description: 'Never returned, and to be hidden while it is typed.' }),
  type: z.enum(['text', 'lines', 'map']).meta({
    description: '`lines`: a document, such as JSON. `map`: an object of texts.',
  }),
})

const CatalogProviderResource = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    /** The default of a credential's `base_url`; null: the credential must have one. */
    base_url: z.string().nullable(),
    /** `any`: the deployment behind the credential has its own models, so every name is accepted. */
    models: z.enum(['catalog', 'any']),
    sandbox: z.boolean(),
    /** Where the provider shows its customers their keys. */
    keys_url: z.string().nullable(),
    credential_fields: z.array(CredentialField),
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
    keys_url: provider.keysUrl ?? null,
    credential_fields: isSandbox ? [] : toCredentialFields(provider),
  }
}

function toCredentialFields(provider: Provider): z.output<typeof CredentialField>[] {
  const { auth, keyIsDocument = false, baseUrl, options = [] } = provider
  return [
    {
      name: 'api_key',
      required: auth !== 'none',
      label: keyIsDocument ? 'Service account' : 'API key',
      help: keyIsDocument ? 'The whole JSON file of the service account.' : '',
      secret: true,
      type: keyIsDocument ? 'lines' : 'text',
    },
    ...options.map(({ name, required, label, help, secret, type }) => ({
      name: `options.${name}`,
      required,
      label,
      help,
      secret,
      type,
    })),
    {
      name: 'base_url',
      required: baseUrl === null,
      label: 'Address',
      help:
        baseUrl === null
          ? 'Up to and with its version, such as http://127.0.0.1:8000/v1.'
          : "In place of the provider's own, up to and with its version.",
      secret: false,
      type: 'text',
    },
  ]
}
