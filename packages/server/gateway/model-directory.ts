import { findModel, providersListing } from '@rideau/llm/catalog'
import { findProvider } from '@rideau/llm/providers/index'
import type { CatalogModel } from '@rideau/llm/spec'
import type { ModelDirectory } from '../core/resolve-model.ts'
import type { Environment } from '../core/tenancy.ts'

/** The shipped catalogue as the resolver asks it. */
export const modelDirectory: ModelDirectory = {
  hasProvider: providerId => findProvider(providerId) !== undefined,
  takesAnyName: providerId => findProvider(providerId)?.models === 'any',
  hasModel: (providerId, modelId) => findModel(providerId, modelId) !== undefined,
  providersOf: modelId => providersListing(modelId),
  isMaker: providerId => findProvider(providerId)?.maker === true,
}

/** What this environment knows of a model: its own word before the catalogue's; undefined: the name only. */
export function findModelHere(
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
