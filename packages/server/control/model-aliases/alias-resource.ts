import { ALIAS_STRATEGIES } from '../../core/tenancy.ts'
import type { ModelAliasRow } from '../../storage/model-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const AliasResource = z
  .strictObject({
    id: uuid,
    project_id: uuid,
    environment_id: uuid,
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
    id: row.id,
    project_id: row.project_id,
    environment_id: row.environment_id,
    alias: row.alias,
    strategy: row.strategy,
    targets: row.targets.map(({ model, weight, timeout_ms, max_retries }) => ({
      model,
      weight,
      timeout_ms,
      max_retries,
    })),
    ...toStamps(row),
  }
}
