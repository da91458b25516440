import catalog from '../../../catalog/alibaba.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const alibaba: Provider = {
  id: 'alibaba',
  name: 'Alibaba Cloud Model Studio',
  keysUrl: 'https://modelstudio.console.alibabacloud.com/?tab=dashboard#/api-key',
  format: 'openai-chat',
  baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    reasoningField: 'reasoning_content',
    // Its models think or do not; none knows how hard.
    reasoningEfforts: {
      none: { enable_thinking: false },
      minimal: { enable_thinking: true },
      low: { enable_thinking: true },
      medium: { enable_thinking: true },
      high: { enable_thinking: true },
    },
  },
  embeddings: {
    format: 'openai-embeddings',
    maxInputs: 10,
    openai: { refusesUser: true, refusesTokens: true },
  },
  catalog: catalog as CatalogFile,
}
