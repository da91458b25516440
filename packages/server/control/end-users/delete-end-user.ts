import { removeEndUser } from '../../storage/end-users.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

export const deleteEndUser = defineOperation({
  name: 'end_users.delete',
  summary: "Removes an end user's record: its plan, attributes and block. Its usage stays in the ledger.",
  method: 'DELETE',
  path: '/v1/end-users/{id}',
  access: { role: 'developer', of: 'end_user' },
  response: { 204: z.undefined() },
  handle: ({ services, resource }) => removeEndUser(services.db, resource.id),
})
