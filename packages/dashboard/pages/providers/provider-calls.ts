import { queryOptions } from '@tanstack/react-query'
import { answerOf, api, type Resource } from '../../api/client.ts'

export type Credential = Resource<'ProviderCredential'>
export type CatalogProvider = Resource<'CatalogProvider'>
export type CredentialField = CatalogProvider['credential_fields'][number]

export const credentialsKey = (envId: string): readonly unknown[] => ['provider-credentials', envId]

export function listCredentials(envId: string, cursor?: string) {
  const query = cursor === undefined ? { limit: 100 } : { limit: 100, cursor }
  return answerOf(
    api.GET('/v1/environments/{envId}/provider-credentials', { params: { path: { envId }, query } }),
  )
}

/** The providers of this version, by name. There are fewer than a page has. */
export const providersQuery = queryOptions({
  queryKey: ['catalog-providers'],
  queryFn: async () => {
    const { data } = await answerOf(api.GET('/v1/catalog/providers', { params: { query: { limit: 100 } } }))
    return data.toSorted((a, b) => a.name.localeCompare(b.name))
  },
  staleTime: Number.POSITIVE_INFINITY,
})

export function validateCredential(id: string): Promise<Credential> {
  return answerOf(api.POST('/v1/provider-credentials/{id}/validate', { params: { path: { id } } }))
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

function toMap(text: string): Record<string, string> {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const pairs = lines.map(line => {
    const at = line.indexOf('=')
    if (at < 1) throw new Error(`Each line must be a name, "=" and a value; got "${line.trim()}".`)
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return Object.fromEntries(pairs)
}
