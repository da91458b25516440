import catalog from '../../../catalog/perplexity.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const perplexity: Provider = {
  id: 'perplexity',
  name: 'Perplexity',
  keysUrl: 'https://www.perplexity.ai/account/api/keys',
  format: 'openai-chat',
  baseUrl: 'https://api.perplexity.ai',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  reportsCost: 'usage.cost.total_cost',
  keyCheckPath: '/v1/models',
  openai: {
    reasoningField: 'refused',
    unsupported: ['stop', 'seed', 'logit_bias', 'logprobs', 'top_logprobs', 'store', 'user'],
  },
  // Its models give whole numbers of eight bits, and nothing else.
  embeddings: {
    format: 'openai-embeddings',
    openai: {
      path: '/v1/embeddings',
      refusesEncoding: true,
      answers: 'int8',
      refusesUser: true,
      refusesTokens: true,
    },
  },
  catalog: catalog as CatalogFile,
}
