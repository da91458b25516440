import { lockQuota, updateQuota as storeQuota } from '../../storage/policies/quotas.ts'
import { mergeScopeChange } from '../operation/merge-change.ts'
import { defineOperation } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { measureQuota } from './measure-quotas.ts'
import { parseQuota, QuotaChange } from './quota-body.ts'
import { completeQuota, QuotaResource, toQuotaResource } from './quota-resource.ts'

export const updateQuota = defineOperation('PATCH /v1/quotas/{id}', {
  name: 'quotas.update',
  summary: 'Changes a quota. Usage in the current window still counts.',
  access: { role: 'developer', of: 'quota' },
  body: QuotaChange,
  response: { 200: QuotaResource },
  handle: async ({ services, resource, body }) => {
    // Locks the row: what another call changed since the caller was admitted stays.
    const stored = orResourceNotFound(await lockQuota(services.db, resource.id))
    const fields = await parseQuota(services.db, stored, mergeScopeChange(stored, body), stored)
    const now = new Date(services.clock.now())
    const row = orResourceNotFound(await storeQuota(services.db, resource.id, fields, now))
    return toQuotaResource(await measureQuota(services, row))
  },
  complete: completeQuota,
})
