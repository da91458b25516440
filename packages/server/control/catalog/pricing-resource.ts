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
