import { removeQuota } from '../../storage/policies/quotas.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteQuota = defineOperation('DELETE /v1/quotas/{id}', {
  name: 'quotas.delete',
  summary: 'Removes a quota.',
  access: { role: 'developer', of: 'quota' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeQuota(services.db, resource.id))
  },
})
