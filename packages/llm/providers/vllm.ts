import type { Provider } from '../provider/provider.ts'
import { MISTRAL_MODEL_RULE } from './mistral-models.ts'

/** A vLLM server of the owner's, at the address that its credential names. */
export const vllm: Provider = {
  id: 'vllm',
  name: 'vLLM',
  format: 'openai-chat',
  baseUrl: null,
  auth: 'none',
  models: 'any',
  openai: { models: [MISTRAL_MODEL_RULE] },
  embeddings: { format: 'openai-embeddings' },
  rerank: { format: 'jina-rerank' },
}
