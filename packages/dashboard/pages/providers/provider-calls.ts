import { queryOptions } from '@tanstack/react-query'
import { api, type Resource, unwrap } from '../../api/client.ts'

export type Credential = Resource<'ProviderCredential'>
export type CatalogProvider = Resource<'CatalogProvider'>
export type CredentialField = CatalogProvider['credential_fields'][number]

export const credentialsKey = (envId: string): readonly unknown[] => ['provider-credentials', envId]

export function listCredentials(envId: string, cursor?: string) {
  const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor }
  return unwrap(
    api.GET('/v1/environments/{envId}/provider-credentials', { params: { path: { envId }, query } }),
  )
}

export function getCredential(id: string) {
  return unwrap(api.GET('/v1/provider-credentials/{id}', { params: { path: { id } } }))
}

/** Loads the providers of this version, sorted by name. They fit into one page. */
export const providersQuery = queryOptions({
  queryKey: ['catalog-providers'],
  queryFn: async () => {
    const { data } = await unwrap(api.GET('/v1/catalog/providers', { params: { query: { limit: 100 } } }))
    return data.toSorted((a, b) => a.name.localeCompare(b.name))
  },
  staleTime: Number.POSITIVE_INFINITY,
})

export function validateCredential(id: string): Promise<Credential> {
  return unwrap(api.POST('/v1/provider-credentials/{id}/validate', { params: { path: { id } } }))
}

/** Returns the body of a new credential from the fields of its form, whose names are the API's. Throws on a line of a map without `=`. */
export function toCredentialBody(provider: CatalogProvider, textOf: (name: string) => string) {
  const options: Record<string, string | Record<string, string>> = {}
  for (const { name, type } of provider.credential_fields) {
    const text = textOf(name)
    if (text === '' || !name.startsWith('options.')) continue
    options[name.slice('options.'.length)] = type === 'map' ? toMap(text) : text
  }
  const [apiKey, baseUrl] = [textOf('api_key'), textOf('base_url')]
  return {
    provider: provider.id,
    name: textOf('name'),
    api_key: apiKey === '' ? null : apiKey,
    ...(baseUrl === '' ? {} : { base_url: baseUrl }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  }
}

/** Returns the provider of a credential. Ids that begin with `custom-` belong to the provider `custom`. */
export function findCatalogProvider(
  providers: readonly CatalogProvider[],
  id: string,
): CatalogProvider | undefined {
  return providers.find(provider => provider.id === (id.startsWith('custom-') ? 'custom' : id))
}

/**
 * Returns the body of a change from the fields of its form. Unchanged fields are left out, because an address or options in the body
 * need the key again, and options replace the secret ones that the form cannot show.
 */
export function toCredentialChange(
  provider: CatalogProvider,
  old: Credential,
  textOf: (name: string) => string,
) {
  const { name, api_key, base_url = null, options = {} } = toCredentialBody(provider, textOf)
  const weight = textOf('weight')
  const isMoved = base_url !== old.base_url
  return {
    name,
    weight: weight === '' ? null : Number(weight),
    ...(api_key === null ? {} : { api_key }),
    ...(isMoved ? { base_url } : {}),
    // With a new address, secret options must be entered again or are removed.
    ...(isMoved || !isSame(options, old.options) ? { options } : {}),
  }
}

/** Returns the text of a credential's field: the address, an option, or a map with one line for each entry. */
export function toFieldText(credential: Credential, name: string): string {
  if (name === 'base_url') return credential.base_url ?? ''
  const value = new Map(Object.entries(credential.options)).get(name.slice('options.'.length))
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? value : ''
  return Object.entries(value)
    .map(([key, text]) => `${key}=${text}`)
    .join('\n')
}

/** Compares options by value, whatever the order of their names. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other
  const known = new Map(Object.entries(other))
  const entries = Object.entries(one)
  return entries.length === known.size && entries.every(([name, value]) => isSame(value, known.get(name)))
}

function toMap(text: string): Record<string, string> {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const pairs = lines.map(line => {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(`Each line must be a name, "=" and a value; got "${line.trim()}".`)
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return Object.fromEntries(pairs)
}
