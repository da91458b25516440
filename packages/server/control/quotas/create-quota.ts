import type { QuotaRow } from '../../storage/policy-tables.ts'
import { insertQuota } from '../../storage/quotas.ts'
import { defineOperation } from '../operation/operation.ts'
import { measureQuota } from './measure-quotas.ts'
import { NewQuota, parseQuota } from './quota-body.ts'
import { QuotaResource, toQuotaResource } from './quota-resource.ts'

export const createQuota = defineOperation('POST /v1/environments/{envId}/quotas', {
  name: 'quotas.create',
  summary:
    'Creates a quota of requests or tokens for a calendar window. Usage in the window before its creation counts too.',
  access: { role: 'developer', of: 'environment' },
  body: NewQuota,
  response: { 201: QuotaResource },
  handle: async ({ services, resource, body }) => {
    const { org_id, project_id, id } = resource
    const owner = { org_id, project_id, environment_id: id }
    const fields = await parseQuota(services.db, owner, body)
    const now = new Date(services.clock.now())
    const row: QuotaRow = { id: services.newId(), ...owner, ...fields, created_at: now, updated_at: now }
    return toQuotaResource(await measureQuota(services, await insertQuota(services.db, row)))
  },
})
