import { revokeKey } from '../../storage/keys/keys.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteKey = defineOperation('DELETE /v1/keys/{keyId}', {
  name: 'keys.delete',
  summary: 'Revokes the key. The record stays, so that its usage can still be attributed.',
  access: { role: 'developer', of: 'key' },
  handle: async ({ services, resource }) => {
    await revokeKey(services.db, resource.id, new Date(services.clock.now()))
  },
})
