import catalog from '../../../catalog/huggingface.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const huggingface: Provider = {
  id: 'huggingface',
  name: 'Hugging Face',
  keysUrl: 'https://huggingface.co/settings/tokens',
  format: 'openai-chat',
  baseUrl: 'https://router.huggingface.co/v1',
  auth: 'bearer',
  models: 'any',
  catalog: catalog as CatalogFile,
}
