import type { ImagePrices } from '../provider/prices.ts'

/** Image prices as model lists show them, in USD. null: the model is not priced by this. */
export interface ListedImagePrices {
  usd_per_image: number | null
  text_input_usd_per_mtok: number | null
  image_input_usd_per_mtok: number | null
  text_output_usd_per_mtok: number | null
  image_output_usd_per_mtok: number | null
}

/** Returns what a model's images cost; null: unknown, or it makes none. */
export function toListedImagePrices(prices: ImagePrices | undefined): ListedImagePrices | null {
  if (prices === undefined) return null
  return {
    usd_per_image: prices.per_image ?? null,
    text_input_usd_per_mtok: prices.text_input ?? null,
    image_input_usd_per_mtok: prices.image_input ?? null,
    text_output_usd_per_mtok: prices.text_output ?? null,
    image_output_usd_per_mtok: prices.image_output ?? null,
  }
}
