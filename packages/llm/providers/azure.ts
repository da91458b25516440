import catalog from '../../../catalog/azure.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'
import { AUDIO_MODELS } from './audio-models.ts'
import { MISTRAL_MODEL_RULE } from './mistral-models.ts'
import { OPENAI_FORMAT_RULES, OPENAI_MODEL_RULES } from './openai-models.ts'
import { withModels } from './with-models.ts'

export const azure: Provider = {
  id: 'azure',
  name: 'Azure OpenAI',
  telemetryName: 'azure.ai.openai',
  keysUrl: 'https://portal.azure.com',
  format: 'openai-chat',
  formatRules: OPENAI_FORMAT_RULES,
  baseUrl: 'https://{resource}.openai.azure.com/openai/v1',
  auth: 'api-key',
  options: [
    {
      name: 'resource',
      type: 'text',
      required: true,
      secret: false,
      label: 'Resource',
      help: 'The name before .openai.azure.com in the endpoint of your resource.',
    },
    {
      name: 'api_version',
      type: 'text',
      required: false,
      secret: false,
      label: 'API version',
      help: 'Such as 2024-10-21. Empty: the version 1 interface, which needs none.',
    },
    {
      name: 'deployments',
      type: 'map',
      required: false,
      secret: false,
      label: 'Deployments',
      help: 'One a line, model=deployment, where a deployment has another name than its model.',
    },
    {
      name: 'tenant_id',
      type: 'text',
      required: false,
      secret: false,
      label: 'Tenant id',
      help: 'With a client id: the key is the secret of that application in Microsoft Entra.',
    },
    {
      name: 'client_id',
      type: 'text',
      required: false,
      secret: false,
      label: 'Client id',
      help: 'The application in Microsoft Entra whose secret the key is.',
    },
  ],
  models: 'catalog',
  openai: {
    outputCap: 'max_completion_tokens',
    developerRole: true,
    reasoningField: 'refused',
    storesAnswers: true,
    deployments: true,
    models: [
      ...OPENAI_MODEL_RULES,
      // What other makers' servers there take.
      { ...MISTRAL_MODEL_RULE, outputCap: 'max_tokens', storesAnswers: false },
      {
        models: ['deepseek*', 'llama*', 'meta-*', 'phi-*', 'cohere*', 'grok*', 'kimi*', 'jamba*'],
        outputCap: 'max_tokens',
        storesAnswers: false,
      },
    ],
  },
  embeddings: { format: 'openai-embeddings' },
  images: { format: 'openai-images' },
  audio: { format: 'openai-audio', countsInJson: true, streamsSpeech: true },
  catalog: withModels(catalog as CatalogFile, AUDIO_MODELS.azure),
}
