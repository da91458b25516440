import catalog from '../../../catalog/fireworks.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const fireworks: Provider = {
  id: 'fireworks',
  name: 'Fireworks AI',
  keysUrl: 'https://app.fireworks.ai/settings/users/api-keys',
  format: 'openai-chat',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  auth: 'bearer',
  models: 'catalog',
  embeddings: { format: 'openai-embeddings', openai: { refusesEncoding: true } },
  images: { format: 'fireworks-workflow' },
  rerank: { format: 'jina-rerank' },
  catalog: catalog as CatalogFile,
}
