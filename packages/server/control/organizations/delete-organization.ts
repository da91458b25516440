import { removeOrganization } from '../../storage/tenancy/organizations.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteOrganization = defineOperation('DELETE /v1/orgs/{orgId}', {
  name: 'orgs.delete',
  summary: 'Deletes an organization and ends every key below it at once.',
  access: { role: 'owner', of: 'org' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeOrganization(services.db, resource.id, new Date(services.clock.now())))
  },
})
