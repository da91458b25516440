import type { LimitRow } from '../../storage/policy-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { z } from '../operation/zod.ts'
import { LIMIT_METRICS, LIMIT_SCOPES } from './limit-body.ts'

export const LimitResource = z
  .strictObject({
    id: uuid,
    org_id: uuid,
    /** Both are null for a limit of the organization. */
    project_id: uuid.nullable(),
    environment_id: uuid.nullable(),
    scope: z.enum(LIMIT_SCOPES),
    scope_ref: z.string().nullable(),
    metric: z.enum(LIMIT_METRICS),
    limit: z.int(),
    window_seconds: z.int().nullable(),
    ...stamps,
  })
  .meta({ id: 'Limit' })

export function toLimitResource(row: LimitRow): z.output<typeof LimitResource> {
  return {
    id: row.id,
    org_id: row.org_id,
    project_id: row.project_id,
    environment_id: row.environment_id,
    scope: row.scope,
    scope_ref: row.scope_ref,
    metric: row.metric,
    limit: row.limit,
    window_seconds: row.window_seconds,
    ...toStamps(row),
  }
}
