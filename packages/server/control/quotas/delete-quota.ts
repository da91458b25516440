import { removeQuota } from '../../storage/policies/quotas.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteQuota = defineOperation('DELETE /v1/quotas/{id}', {
  name: 'quotas.delete',
  summary: 'Removes a quota.',
  access: { role: 'developer', of: 'quota' },
  handle: ({ services, resource }) => removeQuota(services.db, resource.id),
})
