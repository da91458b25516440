import catalog from '../../../catalog/anthropic.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const anthropic: Provider = {
  id: 'anthropic',
  name: 'Anthropic',
  keysUrl: 'https://platform.claude.com/settings/keys',
  format: 'anthropic-messages',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  // Its list has twenty models a page unless more are asked for.
  modelsPath: '/models?limit=1000',
  models: 'catalog',
  ownMounts: ['anthropic'],
  maker: true,
  catalog: catalog as CatalogFile,
}
