import { removeEndUser } from '../../storage/end-users/end-users.ts'
import { defineOperation } from '../operation/operation.ts'

export const deleteEndUser = defineOperation('DELETE /v1/end-users/{id}', {
  name: 'end_users.delete',
  summary: "Removes an end user's record: its plan, attributes and block. Its usage stays in the ledger.",
  access: { role: 'developer', of: 'end_user' },
  handle: ({ services, resource }) => removeEndUser(services.db, resource.id),
})
