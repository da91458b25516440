import catalog from '../../../catalog/deepseek.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const deepseek: Provider = {
  id: 'deepseek',
  name: 'DeepSeek',
  keysUrl: 'https://platform.deepseek.com/api_keys',
  format: 'openai-chat',
  formatRules: [{ format: 'openai-responses', when: 'same-format-flat' }],
  baseUrl: 'https://api.deepseek.com',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    unsupported: ['seed', 'parallel_tool_calls'],
    reasoningField: 'reasoning_content',
    // Its thinking models answer 400 to a tool call that comes back without the thought, or with an empty one.
    reasoningPlaceholder: ' ',
    // It thinks unless a request disables it, and knows two efforts, `high` and `max`: the lower ones mean `high` there.
    reasoningEfforts: {
      none: { thinking: { type: 'disabled' } },
      minimal: { reasoning_effort: 'high' },
      low: { reasoning_effort: 'high' },
      medium: { reasoning_effort: 'high' },
      xhigh: { reasoning_effort: 'max' },
    },
  },
  catalog: catalog as CatalogFile,
}
