import { removeOrganization } from '../../storage/organizations.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteOrganization = defineOperation({
  name: 'orgs.delete',
  summary: 'Deletes an organization and ends every key below it at once.',
  method: 'DELETE',
  path: '/v1/orgs/{orgId}',
  access: { role: 'owner', of: 'org' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource }) => {
    await removeOrganization(services.db, resource.id, new Date(services.clock.now()))
  },
})
