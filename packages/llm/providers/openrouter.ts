import catalog from '../../../catalog/openrouter.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'
import { MISTRAL_MODEL_RULE } from './mistral-models.ts'

/**
 * What its format adds: openrouter.ai/docs, "Reasoning tokens" (`reasoning_details`), "Prompt caching" (`cache_control`) and "Usage
 * accounting" (`cost`).
 */
export const openrouter: Provider = {
  id: 'openrouter',
  name: 'OpenRouter',
  keysUrl: 'https://openrouter.ai/settings/keys',
  format: 'openai-chat',
  formatRules: [{ format: 'openai-responses', when: 'same-format-flat' }],
  baseUrl: 'https://openrouter.ai/api/v1',
  auth: 'bearer',
  models: 'any',
  reportsCost: 'usage.cost',
  // Its list of models is public.
  keyCheckPath: '/key',
  openai: {
    developerRole: true,
    takesReasoning: true,
    takesCacheMarks: true,
    models: [MISTRAL_MODEL_RULE],
  },
  embeddings: { format: 'openai-embeddings' },
  images: {
    format: 'openai-images',
    openai: {
      path: '/images',
      editPath: '/images',
      editImages: 'input_references',
      maxImages: 1,
      unsupported: ['response_format', 'style', 'moderation'],
    },
  },
  catalog: catalog as CatalogFile,
}
