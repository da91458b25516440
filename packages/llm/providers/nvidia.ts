import catalog from '../../../catalog/nvidia.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const nvidia: Provider = {
  id: 'nvidia',
  name: 'NVIDIA NIM',
  keysUrl: 'https://build.nvidia.com/settings/api-keys',
  format: 'openai-chat',
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  auth: 'bearer',
  models: 'catalog',
  embeddings: {
    format: 'openai-embeddings',
    openai: {
      refusesTokens: true,
      inputTypes: { query: 'query', document: 'passage', isRequired: true },
    },
  },
  catalog: catalog as CatalogFile,
}
