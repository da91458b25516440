import catalog from '../../../catalog/cohere.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const cohere: Provider = {
  id: 'cohere',
  name: 'Cohere',
  keysUrl: 'https://dashboard.cohere.com/api-keys',
  format: 'cohere-v2',
  baseUrl: 'https://api.cohere.com/v2',
  auth: 'bearer',
  // Twenty a page unless more are asked for.
  modelsBaseUrl: 'https://api.cohere.com/v1',
  modelsPath: '/models?page_size=1000',
  models: 'catalog',
  ownMounts: ['cohere'],
  maker: true,
  embeddings: { format: 'cohere-embed' },
  rerank: { format: 'cohere-rerank' },
  catalog: catalog as CatalogFile,
}
