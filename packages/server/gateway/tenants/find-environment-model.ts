import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import { findModel } from '@rideau/llm/providers/catalog'
import type { Environment } from '../../core/tenancy.ts'

/** What this environment knows of a model: its own word before the catalogue's; undefined: the name only. */
export function findEnvironmentModel(
  environment: Environment,
  providerId: string,
  modelId: string,
): CatalogModel | undefined {
  if (environment.customModels.size > 0) {
    const custom = environment.customModels.get(`${providerId}/${modelId}`)
    if (custom !== undefined) return custom
  }
  return findModel(providerId, modelId)
}
