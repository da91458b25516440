import catalog from '../../../catalog/sandbox.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

/** Answers inside the process (sandbox/answer.ts): the address is never called, and could not be. */
export const sandbox: Provider = {
  id: 'sandbox',
  name: 'Sandbox',
  format: 'openai-chat',
  baseUrl: 'http://sandbox.invalid/v1',
  auth: 'none',
  models: 'catalog',
  exactNames: [''],
  maker: true,
  sandbox: true,
  openai: { unsupported: ['logprobs', 'top_logprobs'] },
  embeddings: { format: 'openai-embeddings' },
  images: { format: 'openai-images', openai: { editImages: 'image_url' } },
  rerank: { format: 'jina-rerank' },
  catalog: catalog as CatalogFile,
}
