import { findLimit } from '../../storage/policies/limits.ts'
import type { LimitRow } from '../../storage/policy-tables.ts'
import { completeBy } from '../operation/complete-by.ts'
import { stamps, toStamps, uuid } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'
import { LIMIT_METRICS, LIMIT_SCOPES } from './limit-body.ts'
import { type MeasuredLimit, measureLimit } from './measure-limits.ts'

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
    used: z.int().nullable().meta({
      description:
        'By ended requests in the window until now; null for default_end_user, which applies to each end user separately, and where the control plane cannot ask a gateway.',
    }),
    reserved: z
      .int()
      .nullable()
      .meta({ description: 'By running requests, such as those that run now for `concurrency`.' }),
    ...stamps,
  })
  .meta({ id: 'Limit' })

export function toLimitResource(limit: MeasuredLimit): z.output<typeof LimitResource> {
  const { used, reserved } = limit
  return { ...toLimitRecord(limit), used, reserved }
}

/** Returns the settings of a limit without its usage. */
export function toLimitRecord(row: LimitRow) {
  return { ...storedFields(LimitResource, row), ...toStamps(row) }
}

export const completeLimit = completeBy<LimitRow, z.output<typeof LimitResource>>(
  findLimit,
  async (services, row) => {
    const { used, reserved } = await measureLimit(services, row)
    return { used, reserved }
  },
)
