import type { CatalogModel } from '../provider/catalog-model.ts'
import { findProvider, PROVIDERS } from './index.ts'

const NO_MODELS: readonly CatalogModel[] = []

/** What the product knows about a provider's model; undefined: known by name only, if at all. */
export function findModel(providerId: string, modelId: string): CatalogModel | undefined {
  return BY_PROVIDER.get(providerId)?.get(modelId)
}

/** A provider's models, ordered by id; empty where they are the owner's own. */
export function listModels(providerId: string): readonly CatalogModel[] {
  return findProvider(providerId)?.catalog?.models ?? NO_MODELS
}

/** Every model of every provider. */
export function allModels(): readonly { readonly provider: string; readonly model: CatalogModel }[] {
  return PROVIDERS.flatMap(({ id }) => listModels(id).map(model => ({ provider: id, model })))
}

/** Returns the providers whose catalogue lists a model of this bare name. Providers that accept any name are left out. */
export function providersListing(modelId: string): readonly string[] {
  return PROVIDERS.filter(
    ({ id, models }) => models === 'catalog' && findModel(id, modelId) !== undefined,
  ).map(({ id }) => id)
}

const BY_PROVIDER: ReadonlyMap<string, ReadonlyMap<string, CatalogModel>> = new Map(
  PROVIDERS.map(({ id, catalog }) => [id, new Map((catalog?.models ?? []).map(model => [model.id, model]))]),
)
