import catalog from '../../../catalog/zai.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const zai: Provider = {
  id: 'zai',
  name: 'Z.ai',
  keysUrl: 'https://z.ai/manage-apikey/apikey-list',
  format: 'openai-chat',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    reasoningField: 'reasoning_content',
    reasoningEfforts: { none: { thinking: { type: 'disabled' } } },
  },
  catalog: catalog as CatalogFile,
}
