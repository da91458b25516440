import catalog from '../../../catalog/cerebras.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const cerebras: Provider = {
  id: 'cerebras',
  name: 'Cerebras',
  keysUrl: 'https://cloud.cerebras.ai',
  format: 'openai-chat',
  baseUrl: 'https://api.cerebras.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  tokensASecond: 3_000,
  openai: {
    outputCap: 'max_completion_tokens',
    reasoningField: 'reasoning',
    unsupported: ['logit_bias', 'presence_penalty', 'frequency_penalty', 'store'],
  },
  catalog: catalog as CatalogFile,
}
