import catalog from '../../../catalog/xai.json' with { type: 'json' }
import type { CatalogFile, Provider } from '../spec.ts'

export const xai: Provider = {
  id: 'xai',
  name: 'xAI',
  dialect: 'openai-chat',
  dialectRules: [{ dialect: 'openai-responses', when: 'same-format' }],
  baseUrl: 'https://api.x.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    outputCap: 'max_completion_tokens',
    reasoningField: 'reasoning_content',
    completionExcludesReasoning: true,
    unsupported: ['stop', 'presence_penalty', 'frequency_penalty', 'store'],
  },
  catalog: catalog as CatalogFile,
}
