import { toUsd } from '@rideau/llm/usage/money'
import { SCOPES } from '../../core/tenancy.ts'
import type { PlanRow } from '../../storage/policy-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'

export const PlanResource = z
  .strictObject({
    id: uuid,
    project_id: uuid,
    environment_id: uuid,
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
    id: row.id,
    project_id: row.project_id,
    environment_id: row.environment_id,
    name: row.name,
    allowed_models: row.allowed_models,
    // The schema checked the list when it was written.
    scopes: row.scopes as z.output<typeof PlanResource>['scopes'],
    requests_per_minute: row.requests_per_minute,
    max_concurrency: row.max_concurrency,
    tokens_per_day: row.tokens_per_day,
    usd_per_month: toUsd(row.nano_usd_per_month),
    is_default: row.is_default,
    ...toStamps(row),
  }
}
