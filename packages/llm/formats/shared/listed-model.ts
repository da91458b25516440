import type { CatalogModel } from '../../provider/catalog-model.ts'

/** A model that a key may call, with its id as callers write it. */
export interface ListedModel {
  /** `provider/model`. */
  readonly id: string
  /** The provider's id. */
  readonly provider: string
  /** What the provider is called. */
  readonly owner: string
  readonly model: CatalogModel
}

/** An alias that a key may use, with what of its targets can be called. */
export interface ListedAlias {
  readonly id: string
  readonly targets: readonly ListedModel[]
}

export type ModelListEntry = ListedModel | ListedAlias
