import type { LimitRow } from '../../storage/policy-tables.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
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
  return { ...storedFields(LimitResource, row), ...toStamps(row) }
}
