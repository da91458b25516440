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
    readsFileIds: true,
    // Of the newer models one cap bounds everything. `max_tokens` of the older ones does not limit the length of the chain of thought.
    // Source: alibabacloud.com/help/en/model-studio/qwen-api-via-openai-chat-completions, "max_completion_tokens".
    models: [
      {
        models: ['qwen3.5-plus*', 'qwen3.5-flash*', 'qwen3.6-plus*', 'qwen3.6-flash*', 'qwen3.7-*'],
        outputCap: 'max_completion_tokens',
      },
      { models: ['*-instruct*', '*-coder*'], reasonsBesideCap: 'asked' },
      { models: ['qwq*', 'qvq*', '*-thinking*'], reasonsBesideCap: 'always', alwaysReasons: true },
      { models: ['qwen3-*b*', 'qwen3-vl-*b*', 'qwen3.*'], reasonsBesideCap: 'always' },
      { models: ['*'], reasonsBesideCap: 'asked' },
    ],
    // Its models think or do not; none knows how hard.
    reasoningEfforts: {
      none: { enable_thinking: false },
      minimal: { enable_thinking: true },
      low: { enable_thinking: true },
      medium: { enable_thinking: true },
      high: { enable_thinking: true },
      xhigh: { enable_thinking: true },
      max: { enable_thinking: true },
    },
  },
  embeddings: {
    format: 'openai-embeddings',
    maxInputs: 10,
    openai: { refusesUser: true, refusesTokens: true },
  },
  catalog: catalog as CatalogFile,
}
