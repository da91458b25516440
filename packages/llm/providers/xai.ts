import catalog from '../../../catalog/xai.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const xai: Provider = {
  id: 'xai',
  name: 'xAI',
  telemetryName: 'x_ai',
  keysUrl: 'https://console.x.ai/team/default/api-keys',
  format: 'openai-chat',
  formatRules: [{ format: 'openai-responses', when: 'same-format-flat' }],
  baseUrl: 'https://api.x.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  reportsCost: 'usage.cost_in_usd_ticks',
  openai: {
    outputCap: 'max_completion_tokens',
    reasoningField: 'reasoning_content',
    completionExcludesReasoning: true,
    unsupported: ['stop', 'presence_penalty', 'frequency_penalty', 'store'],
  },
  images: {
    format: 'openai-images',
    openai: {
      editImages: 'typed',
      aspectRatios: ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '1:2', '2:1'],
      unsupported: ['quality', 'background', 'output_format', 'style', 'moderation', 'output_compression'],
    },
  },
  catalog: catalog as CatalogFile,
}
