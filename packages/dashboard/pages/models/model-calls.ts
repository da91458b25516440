import { api, type Resource, unwrap } from '../../api/client.ts'

export type CatalogModel = Resource<'CallableModel'>
export type Alias = Resource<'ModelAlias'>
export type CustomModel = Resource<'CustomModel'>
export type DryRun = Resource<'ModelAliasDryRun'>
export type Strategy = Alias['strategy']

export const CAPABILITIES = {
  chat: 'Chat',
  tools: 'Tools',
  response_format: 'JSON schema',
  vision: 'Images as input',
  reasoning: 'Reasoning',
  embeddings: 'Embeddings',
  images: 'Makes images',
  transcription: 'Transcription',
  speech: 'Speech',
  rerank: 'Reranking',
} as const
export type Capability = keyof typeof CAPABILITIES

/** Returns capabilities as words in a sentence: `chat, JSON schema, images as input`. */
export function describeCapabilities(capabilities: readonly string[]): string {
  return capabilities
    .map(capability => CAPABILITIES[capability as Capability] ?? capability)
    .map(label => (label.startsWith('JSON') ? label : label.toLowerCase()))
    .join(', ')
}

export const STRATEGIES: Readonly<Record<Strategy, { name: string; description: string }>> = {
  priority: { name: 'In order', description: 'The first that can answer; the next one if it fails.' },
  weighted: { name: 'By weight', description: 'Each gets its share of the requests.' },
  lowest_latency: { name: 'Fastest', description: 'The one that has answered fastest recently.' },
  lowest_cost: { name: 'Cheapest', description: 'The one with the lowest price.' },
}

export const aliasesKey = (envId: string): readonly unknown[] => ['aliases', envId]
export const customModelsKey = (envId: string): readonly unknown[] => ['custom-models', envId]

const page = (cursor: string | undefined) => (cursor === undefined ? { limit: 100 } : { limit: 100, cursor })

export function listAliases(envId: string, cursor?: string) {
  return unwrap(
    api.GET('/v1/environments/{envId}/model-aliases', { params: { path: { envId }, query: page(cursor) } }),
  )
}

export function getAlias(id: string) {
  return unwrap(api.GET('/v1/model-aliases/{id}', { params: { path: { id } } }))
}

export function listCustomModels(envId: string, cursor?: string) {
  return unwrap(
    api.GET('/v1/environments/{envId}/custom-models', { params: { path: { envId }, query: page(cursor) } }),
  )
}

interface CatalogQuery {
  readonly q?: string | undefined
  readonly capability?: Capability | undefined
  readonly cursor?: string | undefined
  readonly limit?: number
}

export function listCatalog(envId: string, { q, capability, cursor, limit = 25 }: CatalogQuery) {
  return unwrap(
    api.GET('/v1/environments/{envId}/catalog', {
      params: {
        path: { envId },
        query: {
          ...page(cursor),
          limit,
          ...(q === undefined ? {} : { q }),
          ...(capability === undefined ? {} : { capability }),
        },
      },
    }),
  )
}
