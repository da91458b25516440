import { findQuota } from '../../storage/policies/quotas.ts'
import type { Services } from '../operation/operation.ts'
import type { z } from '../operation/zod.ts'
import { measureQuota } from './measure-quotas.ts'
import { type QuotaResource, toQuotaResource } from './quota-resource.ts'

type Quota = z.output<typeof QuotaResource>

/** Returns the quota of a write with the figures of its counter; unchanged if it was removed meanwhile. */
export async function completeQuota(
  { services }: { readonly services: Services },
  written: Quota,
): Promise<Quota> {
  const row = await findQuota(services.db, written.id)
  return row === undefined ? written : toQuotaResource(await measureQuota(services, row))
}
