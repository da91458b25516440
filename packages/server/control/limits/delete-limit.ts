import { removeLimit } from '../../storage/limits.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteLimit = defineOperation({
  name: 'limits.delete',
  summary: 'Removes a rate limit. A limit of the organization needs the role admin.',
  method: 'DELETE',
  path: '/v1/limits/{id}',
  access: { role: 'developer', of: 'limit' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource, role }) => {
    if (resource.environment_id === null) assertRole(role, 'admin')
    await removeLimit(services.db, resource.id)
  },
})
