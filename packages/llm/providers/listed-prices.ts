import { type ListedImagePrices, toListedImagePrices } from '../images/listed-image-prices.ts'
import type { CatalogModel } from '../provider/catalog-model.ts'
import type { AudioPrices, RerankPrices } from '../provider/prices.ts'

/** Audio prices as model lists show them, in USD. null: the model is not priced by this. */
export interface ListedAudioPrices {
  usd_per_hour: number | null
  /** The fewest seconds that a request is billed for. */
  min_seconds: number | null
  usd_per_million_characters: number | null
  text_input_usd_per_mtok: number | null
  audio_input_usd_per_mtok: number | null
  text_output_usd_per_mtok: number | null
  audio_output_usd_per_mtok: number | null
}

/** Prices of reranking as model lists show them, in USD. null: the model is not priced by this. */
export interface ListedRerankPrices {
  usd_per_search: number | null
  input_usd_per_mtok: number | null
}

/** What a model list shows besides the prices of tokens. null: unknown, or the model does none of it. */
export interface ListedPrices {
  image_pricing: ListedImagePrices | null
  audio_pricing: ListedAudioPrices | null
  rerank_pricing: ListedRerankPrices | null
}

export function toListedPrices({ image_pricing, audio_pricing, rerank_pricing }: CatalogModel): ListedPrices {
  return {
    image_pricing: toListedImagePrices(image_pricing),
    audio_pricing: audio_pricing === undefined ? null : toListedAudioPrices(audio_pricing),
    rerank_pricing: rerank_pricing === undefined ? null : toListedRerankPrices(rerank_pricing),
  }
}

function toListedAudioPrices(prices: AudioPrices): ListedAudioPrices {
  return {
    usd_per_hour: prices.per_hour ?? null,
    min_seconds: prices.min_seconds ?? null,
    usd_per_million_characters: prices.per_million_characters ?? null,
    text_input_usd_per_mtok: prices.text_input ?? null,
    audio_input_usd_per_mtok: prices.audio_input ?? null,
    text_output_usd_per_mtok: prices.text_output ?? null,
    audio_output_usd_per_mtok: prices.audio_output ?? null,
  }
}

function toListedRerankPrices({ per_search, input }: RerankPrices): ListedRerankPrices {
  return { usd_per_search: per_search ?? null, input_usd_per_mtok: input ?? null }
}
