import catalog from '../../../catalog/vertex.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'
import { withTranscripts } from './audio-models.ts'

const PLACE = 'projects/{project}/locations/{location}'

export const vertex: Provider = {
  id: 'vertex',
  name: 'Google Vertex AI',
  telemetryName: 'gcp.vertex_ai',
  keysUrl: 'https://console.cloud.google.com/iam-admin/serviceaccounts',
  format: 'gemini-content',
  // The first version lacks fields that Google's own clients send, such as parametersJsonSchema.
  baseUrl: `https://{location}-aiplatform.googleapis.com/v1beta1/${PLACE}`,
  baseUrlExceptions: [
    {
      option: 'location',
      value: 'global',
      baseUrl: `https://aiplatform.googleapis.com/v1beta1/${PLACE}`,
    },
  ],
  auth: 'google',
  keyIsDocument: true,
  options: [
    {
      name: 'project',
      type: 'text',
      required: true,
      secret: false,
      label: 'Project',
      help: 'The id of the Google Cloud project.',
    },
    {
      name: 'location',
      type: 'text',
      required: true,
      secret: false,
      label: 'Location',
      help: 'Such as europe-west1, or global.',
    },
  ],
  keyCheckPath: null,
  modelPath: '/publishers/google/models',
  formatRules: [{ format: 'anthropic-messages', models: ['claude-*'] }],
  messages: {
    plainPath: '/publishers/anthropic/models/{model}:rawPredict',
    streamedPath: '/publishers/anthropic/models/{model}:streamRawPredict',
    version: 'vertex-2023-10-16',
  },
  // Neither family fetches images for every caller here.
  inlinesImages: true,
  // Vertex AI had no field for them until 2026, and models up to 2.5 match results by name and order. Newer ones need them.
  refusesCallIds: ['gemini-1*', 'gemini-2*'],
  models: 'catalog',
  ownMounts: ['gemini'],
  embeddings: { format: 'vertex-predict' },
  images: { format: 'google-images' },
  audio: { format: 'gemini-audio' },
  catalog: withTranscripts(catalog as CatalogFile),
}
