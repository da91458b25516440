import { findModel, providersListing } from './catalog.ts'
import { findProvider } from './index.ts'

/** The shipped catalogue, as who resolves a model's name asks it. */
export const modelDirectory = {
  hasProvider: (providerId: string): boolean => findProvider(providerId) !== undefined,
  /** Are the provider's models its owner's own, so that every name is taken? */
  takesAnyName: (providerId: string): boolean => findProvider(providerId)?.models === 'any',
  hasModel: (providerId: string, modelId: string): boolean => findModel(providerId, modelId) !== undefined,
  providersOf: providersListing,
  /** Does the provider list models of its own make? */
  isMaker: (providerId: string): boolean => findProvider(providerId)?.maker === true,
}
