import { revokeManagementKey } from '../../storage/management-keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteManagementKey = defineOperation({
  name: 'management_keys.delete',
  summary: 'Revokes the key. The record stays, so that its usage can still be attributed.',
  method: 'DELETE',
  path: '/v1/management-keys/{keyId}',
  access: { role: 'owner', of: 'management_key' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource }) => {
    await revokeManagementKey(services.db, resource.id, new Date(services.clock.now()))
  },
})
