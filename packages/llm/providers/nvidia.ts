import catalog from '../../../catalog/nvidia.json' with { type: 'json' }
import type { CatalogFile, Provider } from '../spec.ts'

export const nvidia: Provider = {
  id: 'nvidia',
  name: 'NVIDIA NIM',
  dialect: 'openai-chat',
  baseUrl: 'https://integrate.api.nvidia.com/v1',
  auth: 'bearer',
  models: 'catalog',
  catalog: catalog as CatalogFile,
}
