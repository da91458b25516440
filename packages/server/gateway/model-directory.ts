import { findModel, providersListing } from '@rideau/llm/catalog'
import { findProvider } from '@rideau/llm/providers/index'
import type { ModelDirectory } from '../core/resolve-model.ts'

/** The shipped catalogue as the resolver asks it. */
export const modelDirectory: ModelDirectory = {
  hasProvider: providerId => findProvider(providerId) !== undefined,
  hasModel: (providerId, modelId) =>
    findProvider(providerId)?.models === 'any' || findModel(providerId, modelId) !== undefined,
  providersOf: modelId => providersListing(modelId),
  isMaker: (providerId, modelId) =>
    findProvider(providerId)?.maker === true && findModel(providerId, modelId) !== undefined,
}
