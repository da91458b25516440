import type { CustomModelRow } from '../../storage/model-tables.ts'
import { capabilityField } from '../operation/capability-field.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const CustomModelResource = z
  .strictObject({
    id: uuid,
    project_id: uuid,
    environment_id: uuid,
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
    id: row.id,
    project_id: row.project_id,
    environment_id: row.environment_id,
    model: row.model,
    capabilities: row.capabilities,
    context_window: row.context_window,
    max_output_tokens: row.max_output_tokens,
    pricing: row.pricing,
    ...toStamps(row),
  }
}
