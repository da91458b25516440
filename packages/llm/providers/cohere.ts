import catalog from '../../../catalog/cohere.json' with { type: 'json' }
import type { CatalogFile, Provider } from '../spec.ts'

export const cohere: Provider = {
  id: 'cohere',
  name: 'Cohere',
  dialect: 'cohere-v2',
  baseUrl: 'https://api.cohere.com/v2',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  embeddings: { format: 'cohere-embed' },
  catalog: catalog as CatalogFile,
}
