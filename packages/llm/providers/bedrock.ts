import catalog from '../../../catalog/bedrock.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

export const bedrock: Provider = {
  id: 'bedrock',
  name: 'Amazon Bedrock',
  telemetryName: 'aws.bedrock',
  keysUrl: 'https://console.aws.amazon.com/bedrock/home#/api-keys',
  format: 'bedrock-converse',
  baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  auth: 'aws',
  awsService: 'bedrock',
  // Without `access_key_id` the key is one of Bedrock's own API keys.
  options: [
    {
      name: 'region',
      type: 'text',
      required: true,
      secret: false,
      label: 'Region',
      help: 'Such as eu-central-1.',
    },
    {
      name: 'access_key_id',
      type: 'text',
      required: false,
      secret: false,
      label: 'Access key id',
      help: 'With it the key is the secret access key. Empty: the key is a Bedrock API key.',
    },
    {
      name: 'session_token',
      type: 'text',
      required: false,
      secret: true,
      label: 'Session token',
      help: 'For temporary access keys only.',
    },
  ],
  // Of the models that are called by their own name; the cheapest route that asks for the key, too.
  modelsBaseUrl: 'https://bedrock.{region}.amazonaws.com',
  modelsPath: '/foundation-models?byInferenceType=ON_DEMAND',
  models: 'catalog',
  ownMounts: ['bedrock'],
  // An ARN may name a stored prompt, an endpoint or another object of the account.
  exactNames: ['arn:'],
  embeddings: { format: 'bedrock-invoke' },
  images: { format: 'bedrock-images' },
  rerank: { format: 'bedrock-rerank' },
  catalog: catalog as CatalogFile,
}
