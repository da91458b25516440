import catalog from '../../../catalog/voyage.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

/** Embeddings and rerankers only. */
export const voyage: Provider = {
  id: 'voyage',
  name: 'Voyage AI',
  keysUrl: 'https://dashboard.voyageai.com/organization/api-keys',
  format: 'openai-chat',
  baseUrl: 'https://api.voyageai.com/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  embeddings: {
    format: 'openai-embeddings',
    maxInputs: 1000,
    openai: {
      dimensions: 'output_dimension',
      refusesFloat: true,
      refusesUser: true,
      refusesTokens: true,
      inputTypes: { query: 'query', document: 'document' },
    },
  },
  rerank: { format: 'voyage-rerank' },
  catalog: catalog as CatalogFile,
}
