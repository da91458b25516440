import { z } from '../operation/zod.ts'

/** The prices of a model in USD. null: unknown, which is not the same as zero. */
export const PricingResource = z
  .strictObject({
    input_usd_per_mtok: z.number(),
    output_usd_per_mtok: z.number(),
    cached_input_usd_per_mtok: z.number().nullable(),
    cache_write_usd_per_mtok: z.number().nullable(),
  })
  .nullable()

/** What images cost in USD: by the image, or by kind of token. null: unknown, or the model makes no images. */
export const ImagePricingResource = z
  .strictObject({
    usd_per_image: z.number().nullable(),
    text_input_usd_per_mtok: z.number().nullable(),
    image_input_usd_per_mtok: z.number().nullable(),
    text_output_usd_per_mtok: z.number().nullable(),
    image_output_usd_per_mtok: z.number().nullable(),
  })
  .nullable()

/** What audio costs in USD: by length, by character, or by kind of token. null: unknown, or the model has none. */
export const AudioPricingResource = z
  .strictObject({
    usd_per_hour: z.number().nullable(),
    min_seconds: z
      .number()
      .nullable()
      .meta({ description: 'Each request is billed for at least so many seconds.' }),
    usd_per_million_characters: z.number().nullable(),
    text_input_usd_per_mtok: z.number().nullable(),
    audio_input_usd_per_mtok: z.number().nullable(),
    text_output_usd_per_mtok: z.number().nullable(),
    audio_output_usd_per_mtok: z.number().nullable(),
  })
  .nullable()

/** What reranking costs in USD: by the search, or by tokens. null: unknown, or the model does none. */
export const RerankPricingResource = z
  .strictObject({
    usd_per_search: z.number().nullable(),
    input_usd_per_mtok: z.number().nullable(),
  })
  .nullable()
