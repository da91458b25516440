import catalog from '../../../catalog/gemini.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'
import { AUDIO_MODELS, withTranscripts } from './audio-models.ts'
import { withModels } from './with-models.ts'

export const gemini: Provider = {
  id: 'gemini',
  name: 'Google Gemini (AI Studio)',
  telemetryName: 'gcp.gemini',
  keysUrl: 'https://aistudio.google.com/apikey',
  format: 'gemini-content',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  auth: 'x-goog-api-key',
  // Its list has fifty models a page unless more are asked for.
  modelsPath: '/models?pageSize=1000',
  models: 'catalog',
  ownMounts: ['gemini'],
  maker: true,
  embeddings: { format: 'gemini-embed' },
  images: { format: 'google-images' },
  audio: { format: 'gemini-audio' },
  catalog: withModels(withTranscripts(catalog as CatalogFile), AUDIO_MODELS.gemini),
}
