import { removeQuota } from '../../storage/quotas.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteQuota = defineOperation({
  name: 'quotas.delete',
  summary: 'Removes a quota.',
  method: 'DELETE',
  path: '/v1/quotas/{id}',
  access: { role: 'developer', of: 'quota' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeQuota(services.db, resource.id),
})
