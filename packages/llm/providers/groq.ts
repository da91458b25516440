import catalog from '../../../catalog/groq.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'
import { AUDIO_MODELS } from './audio-models.ts'
import { withModels } from './with-models.ts'

/** What it answers 400 to: console.groq.com/docs/openai, "Currently unsupported OpenAI features". */
export const groq: Provider = {
  id: 'groq',
  name: 'Groq',
  keysUrl: 'https://console.groq.com/keys',
  format: 'openai-chat',
  baseUrl: 'https://api.groq.com/openai/v1',
  auth: 'bearer',
  models: 'catalog',
  tokensASecond: 1_000,
  openai: {
    outputCap: 'max_completion_tokens',
    reasoningField: 'refused',
    unsupported: [
      'n',
      'logit_bias',
      'logprobs',
      'top_logprobs',
      'presence_penalty',
      'frequency_penalty',
      'store',
    ],
  },
  audio: { format: 'openai-audio' },
  catalog: withModels(catalog as CatalogFile, AUDIO_MODELS.groq),
}
