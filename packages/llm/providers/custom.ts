import type { Provider } from '../provider/provider.ts'
import { MISTRAL_MODEL_RULE } from './mistral-models.ts'

/** Any server that speaks the OpenAI format, at the address that its credential names; also as `custom-<slug>`. */
export const custom: Provider = {
  id: 'custom',
  name: 'Custom',
  format: 'openai-chat',
  baseUrl: null,
  auth: 'none',
  models: 'any',
  openai: { models: [MISTRAL_MODEL_RULE] },
  embeddings: { format: 'openai-embeddings' },
  images: { format: 'openai-images' },
  audio: { format: 'openai-audio' },
  rerank: { format: 'jina-rerank' },
}
