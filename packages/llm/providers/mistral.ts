import catalog from '../../../catalog/mistral.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const mistral: Provider = {
  id: 'mistral',
  name: 'Mistral',
  telemetryName: 'mistral_ai',
  keysUrl: 'https://console.mistral.ai/api-keys',
  format: 'openai-chat',
  baseUrl: 'https://api.mistral.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    refusesStreamOptions: true,
    renamed: { seed: 'random_seed' },
    toolChoiceRequired: 'any',
    toolCallIdLength: 9,
    refusesUserAfterTool: true,
    reasoningField: 'refused',
    // It knows two efforts, and only its reasoning models know them.
    reasoningEfforts: {
      minimal: { reasoning_effort: 'high' },
      low: { reasoning_effort: 'high' },
      medium: { reasoning_effort: 'high' },
      xhigh: { reasoning_effort: 'high' },
      max: { reasoning_effort: 'high' },
    },
    // Mistral answers 422 to a field that it does not know.
    unsupported: ['user', 'store', 'logit_bias', 'logprobs', 'top_logprobs', 'service_tier', 'verbosity'],
  },
  embeddings: {
    format: 'openai-embeddings',
    openai: { dimensions: 'output_dimension', refusesEncoding: true, refusesUser: true, refusesTokens: true },
  },
  catalog: catalog as CatalogFile,
}
