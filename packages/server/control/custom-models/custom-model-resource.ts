import type { CustomModelRow } from '../../storage/model-tables.ts'
import { PricingResource } from '../catalog/pricing-resource.ts'
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
    pricing: PricingResource,
    ...stamps,
  })
  .meta({ id: 'CustomModel' })

export function toCustomModelResource(row: CustomModelRow): z.output<typeof CustomModelResource> {
  return { ...storedFields(CustomModelResource, row), ...toStamps(row) }
}
