import { removeOrganization } from '../../storage/tenancy/organizations.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteOrganization = defineOperation('DELETE /v1/orgs/{orgId}', {
  name: 'orgs.delete',
  summary: 'Deletes an organization and ends every key below it at once.',
  access: { role: 'owner', of: 'org' },
  handle: ({ services, resource }) =>
    removeOrganization(services.db, resource.id, new Date(services.clock.now())),
})
