import { ALIAS_STRATEGIES } from '../../core/tenancy/tenancy.ts'
import type { ModelAliasRow } from '../../storage/model-tables.ts'
import { environmentIds, stamps, toStamps } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const AliasResource = z
  .strictObject({
    ...environmentIds,
    alias: z.string(),
    strategy: z.enum(ALIAS_STRATEGIES),
    targets: z.array(
      z.strictObject({
        model: z.string(),
        weight: z.int().nullable(),
        timeout_ms: z.int().nullable(),
        max_retries: z.int().nullable(),
      }),
    ),
    ...stamps,
  })
  .meta({ id: 'ModelAlias' })

export function toAliasResource(row: ModelAliasRow): z.output<typeof AliasResource> {
  return {
    ...storedFields(AliasResource, row),
    targets: row.targets.map(({ model, weight, timeout_ms, max_retries }) => ({
      model,
      weight,
      timeout_ms,
      max_retries,
    })),
    ...toStamps(row),
  }
}
