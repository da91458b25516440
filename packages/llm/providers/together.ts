import catalog from '../../../catalog/together.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const together: Provider = {
  id: 'together',
  name: 'Together AI',
  keysUrl: 'https://api.together.ai/settings/api-keys',
  format: 'openai-chat',
  baseUrl: 'https://api.together.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  embeddings: {
    format: 'openai-embeddings',
    openai: { refusesEncoding: true, refusesUser: true, refusesTokens: true },
  },
  images: {
    format: 'openai-images',
    openai: {
      editPath: '/images/generations',
      editImages: 'single',
      maxImages: 1,
      splitsSize: true,
      base64: 'base64',
      unsupported: ['quality', 'background', 'style', 'moderation', 'user'],
    },
  },
  rerank: { format: 'jina-rerank' },
  catalog: catalog as CatalogFile,
}
