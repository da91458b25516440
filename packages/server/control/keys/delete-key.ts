import { revokeKey } from '../../storage/keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteKey = defineOperation({
  name: 'keys.delete',
  summary: 'The same as to revoke it: the record stays, so that its use stays explained.',
  method: 'DELETE',
  path: '/v1/keys/{keyId}',
  access: { role: 'developer', of: 'key' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource }) => {
    await revokeKey(services.db, resource.id, new Date(services.clock.now()))
  },
})
