import { CALENDAR_WINDOWS } from '../../core/tenancy/windows.ts'
import { findQuota } from '../../storage/policies/quotas.ts'
import type { QuotaRow } from '../../storage/policy-tables.ts'
import { completeBy } from '../operation/complete-by.ts'
import { dateTime, environmentIds, stamps, toStamps } from '../operation/fields.ts'
import { storedFields } from '../operation/stored-fields.ts'
import { z } from '../operation/zod.ts'
import { type MeasuredQuota, measureQuota } from './measure-quotas.ts'
import { QUOTA_METRICS, QUOTA_SCOPES } from './quota-body.ts'

export const QuotaResource = z
  .strictObject({
    ...environmentIds,
    scope: z.enum(QUOTA_SCOPES),
    scope_ref: z.string().nullable(),
    metric: z.enum(QUOTA_METRICS),
    window: z.enum(CALENDAR_WINDOWS),
    limit: z.number(),
    grace_pct: z.number(),
    used: z.int().nullable().meta({
      description:
        'In the current window; null for default_end_user, which applies to each end user separately.',
    }),
    reserved: z.int().nullable().meta({
      description:
        'Held for requests that are under way; null where `used` is, and where the control plane cannot ask a gateway.',
    }),
    resets_at: dateTime,
    ...stamps,
  })
  .meta({ id: 'Quota' })

export function toQuotaResource(quota: MeasuredQuota): z.output<typeof QuotaResource> {
  const { used, reserved, resets_at } = quota
  return { ...toQuotaRecord(quota), used, reserved, resets_at: resets_at.toISOString() }
}

/** Returns the settings of a quota without its usage. */
export function toQuotaRecord(row: QuotaRow) {
  return { ...storedFields(QuotaResource, row), ...toStamps(row) }
}

export const completeQuota = completeBy<QuotaRow, z.output<typeof QuotaResource>>(
  findQuota,
  async (services, row) => {
    const { used, reserved } = await measureQuota(services, row)
    return { used, reserved }
  },
)
