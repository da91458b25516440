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
