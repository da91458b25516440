import catalog from '../../../catalog/moonshot.json' with { type: 'json' }
import type { CatalogFile } from '../provider/catalog-model.ts'
import type { Provider } from '../provider/provider.ts'

/** What models with fixed sampling refuse. */
const SAMPLING = ['temperature', 'top_p', 'n', 'presence_penalty', 'frequency_penalty']

/** The models' parameters: platform.kimi.ai/docs/api/models-overview, "Parameter comparison". */
export const moonshot: Provider = {
  id: 'moonshot',
  name: 'Moonshot AI',
  keysUrl: 'https://platform.moonshot.ai/console/api-keys',
  format: 'openai-chat',
  baseUrl: 'https://api.moonshot.ai/v1',
  auth: 'bearer',
  models: 'catalog',
  maker: true,
  openai: {
    reasoningField: 'reasoning_content',
    // It refuses a thinking model's tool call that comes back without the thought.
    reasoningPlaceholder: ' ',
    // Since Kimi K2.5 sampling is fixed, and another value is refused; older models take what OpenAI's do.
    models: [
      { models: ['kimi-k2.7-code*', 'kimi-k3*'], unsupported: SAMPLING, alwaysReasons: true },
      { models: ['kimi-k2.*'], unsupported: SAMPLING },
      { models: ['kimi-k2-thinking*'], alwaysReasons: true },
    ],
    reasoningEfforts: { none: { thinking: { type: 'disabled' } } },
  },
  catalog: catalog as CatalogFile,
}
