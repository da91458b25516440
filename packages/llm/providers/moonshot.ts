import catalog from '../../../catalog/moonshot.json' with { type: 'json' }
import type { CatalogFile, Provider } from '../spec.ts'

export const moonshot: Provider = {
  id: 'moonshot',
  name: 'Moonshot AI',
  dialect: 'openai-chat',
  baseUrl: 'https://api.moonshot.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    reasoningField: 'reasoning_content',
    // It refuses a thinking model's tool call that comes back without the thought.
    reasoningPlaceholder: ' ',
    reasoningEfforts: { none: { thinking: { type: 'disabled' } } },
  },
  catalog: catalog as CatalogFile,
}
