import catalog from '../../../catalog/voyage.json' with { type: 'json' }
import type { CatalogFile, Provider } from '../spec.ts'

/** Embeddings only. */
export const voyage: Provider = {
  id: 'voyage',
  name: 'Voyage AI',
  dialect: 'openai-chat',
  baseUrl: 'https://api.voyageai.com/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  catalog: catalog as CatalogFile,
}
