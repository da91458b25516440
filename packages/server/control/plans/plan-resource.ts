import { toUsd } from '@rideau/llm/usage/money'
import { SCOPES } from '../../core/tenancy/tenancy.ts'
import type { PlanRow } from '../../storage/policy-tables.ts'
import { environmentIds, stamps, toStamps } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'

export const PlanResource = z
  .strictObject({
    ...environmentIds,
    name: z.string(),
    allowed_models: z.array(z.string()).nullable(),
    scopes: z.array(z.enum(SCOPES)).nullable(),
    requests_per_minute: z.int().nullable(),
    max_concurrency: z.int().nullable(),
    tokens_per_day: z.int().nullable(),
    usd_per_month: z.number().nullable(),
    is_default: z.boolean(),
    ...stamps,
  })
  .meta({ id: 'Plan' })

export function toPlanResource(row: PlanRow): z.output<typeof PlanResource> {
  return {
    ...storedFields(PlanResource, row),
    // The schema checked the list when it was written.
    scopes: row.scopes as z.output<typeof PlanResource>['scopes'],
    usd_per_month: toUsd(row.nano_usd_per_month),
    ...toStamps(row),
  }
}
