import { removeLimit } from '../../storage/policies/limits.ts'
import { assertRole } from '../operation/assert-role.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteLimit = defineOperation('DELETE /v1/limits/{id}', {
  name: 'limits.delete',
  summary: 'Removes a rate limit. A limit of the organization needs the role admin.',
  access: { role: 'developer', of: 'limit' },
  handle: async ({ services, resource, role }) => {
    if (resource.environment_id === null) assertRole(role, 'admin')
    assertRemoved(await removeLimit(services.db, resource.id))
  },
})
