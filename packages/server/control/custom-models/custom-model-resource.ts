import type { CustomModelRow } from '../../storage/model-tables.ts'
import { capabilityField } from '../operation/capability-field.ts'
import { environmentIds, stamps, toStamps } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const CustomModelResource = z
  .strictObject({
    ...environmentIds,
    model: z.string(),
    capabilities: z.array(capabilityField),
    context_window: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    /** null: unknown, which is not the same as zero. */
    pricing: z
      .strictObject({
        input_usd_per_mtok: z.number(),
        output_usd_per_mtok: z.number(),
        cached_input_usd_per_mtok: z.number().nullable(),
        cache_write_usd_per_mtok: z.number().nullable(),
      })
      .nullable(),
    ...stamps,
  })
  .meta({ id: 'CustomModel' })

export function toCustomModelResource(row: CustomModelRow): z.output<typeof CustomModelResource> {
  return {
    ...storedFields(CustomModelResource, row),
    ...toStamps(row),
  }
}
