import catalog from '../../../catalog/openai.json' with { type: 'json' }
import type { CatalogFile, Provider } from '../spec.ts'

export const openai: Provider = {
  id: 'openai',
  name: 'OpenAI',
  dialect: 'openai-chat',
  baseUrl: 'https://api.openai.com/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: { outputCap: 'max_completion_tokens', developerRole: true, reasoningField: 'refused' },
  catalog: catalog as CatalogFile,
}
