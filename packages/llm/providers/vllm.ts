import type { Provider } from '../provider/provider.ts'

/** A vLLM server of the owner's, at the address that its credential names. */
export const vllm: Provider = {
  id: 'vllm',
  name: 'vLLM',
  format: 'openai-chat',
  baseUrl: null,
  auth: 'none',
  models: 'any',
  embeddings: { format: 'openai-embeddings' },
  rerank: { format: 'jina-rerank' },
}
