import { revokeManagementKey } from '../../storage/keys/management-keys.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteManagementKey = defineOperation('DELETE /v1/management-keys/{keyId}', {
  name: 'management_keys.delete',
  summary: 'Revokes the key. The record stays, so that its usage can still be attributed.',
  access: { role: 'owner', of: 'management_key' },
  handle: async ({ services, resource }) => {
    await revokeManagementKey(services.db, resource.id, new Date(services.clock.now()))
  },
})
