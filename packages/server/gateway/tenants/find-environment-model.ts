import type { CatalogModel } from '@rideau/llm/provider/catalog-model'
import { findModel } from '@rideau/llm/providers/catalog'
import type { Environment } from '../../core/tenancy/tenancy.ts'

/**
 * Returns what an environment knows of a model: its custom model if there is one, else the catalogue's. undefined: only
 * the name is known.
 */
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
