import type { CatalogFile, CatalogModel } from '../provider/catalog-model.ts'

/** Returns the catalogue with further models, ordered by id. */
export function withModels(file: CatalogFile, models: readonly CatalogModel[]): CatalogFile {
  const all = [...file.models, ...models]
  all.sort((one, other) => (one.id < other.id ? -1 : 1))
  return { ...file, models: all }
}
