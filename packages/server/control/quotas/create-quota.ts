import { insertQuota } from '../../storage/policies/quotas.ts'
import { newRecord, ownerColumns } from '../operation/new-record.ts'
import { defineOperation } from '../operation/operation.ts'
import { measureQuota } from './measure-quotas.ts'
import { NewQuota, parseQuota } from './quota-body.ts'
import { completeQuota, QuotaResource, toQuotaResource } from './quota-resource.ts'

export const createQuota = defineOperation('POST /v1/environments/{envId}/quotas', {
  name: 'quotas.create',
  summary:
    'Creates a quota of requests or tokens for a calendar window. Usage in the window before its creation counts too.',
  access: { role: 'developer', of: 'environment' },
  body: NewQuota,
  response: { 201: QuotaResource },
  handle: async ({ services, resource, body }) => {
    const owner = ownerColumns(resource)
    const fields = await parseQuota(services.db, owner, body)
    const row = await insertQuota(services.db, { ...newRecord(services), ...owner, ...fields })
    return toQuotaResource(await measureQuota(services, row))
  },
  complete: completeQuota,
})
