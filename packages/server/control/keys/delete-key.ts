import { revokeKey } from '../../storage/keys.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteKey = defineOperation({
  name: 'keys.delete',
  summary: 'Revokes the key. The record stays, so that its usage can still be attributed.',
  method: 'DELETE',
  path: '/v1/keys/{keyId}',
  access: { role: 'developer', of: 'key' },
  response: { 204: z.undefined() },
  handle: async ({ services, resource }) => {
    await revokeKey(services.db, resource.id, new Date(services.clock.now()))
  },
})
