import catalog from '../../../catalog/openai.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'
import { AUDIO_MODELS } from './audio-models.ts'
import { OPENAI_FORMAT_RULES, OPENAI_MODEL_RULES } from './openai-models.ts'
import { withModels } from './with-models.ts'

export const openai: Provider = {
  id: 'openai',
  name: 'OpenAI',
  keysUrl: 'https://platform.openai.com/api-keys',
  format: 'openai-chat',
  formatRules: OPENAI_FORMAT_RULES,
  baseUrl: 'https://api.openai.com/v1',
  auth: 'bearer',
  models: 'catalog',
  ownMounts: ['openai'],
  maker: true,
  openai: {
    outputCap: 'max_completion_tokens',
    developerRole: true,
    reasoningField: 'refused',
    models: OPENAI_MODEL_RULES,
    storesAnswers: true,
    countsInput: true,
    compacts: true,
  },
  embeddings: { format: 'openai-embeddings' },
  images: { format: 'openai-images' },
  audio: { format: 'openai-audio', countsInJson: true, streamsSpeech: true },
  catalog: withModels(catalog as CatalogFile, AUDIO_MODELS.openai),
}
