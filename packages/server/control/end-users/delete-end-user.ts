import { removeEndUser } from '../../storage/end-users/end-users.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertRemoved } from '../operation/or-not-found.ts'

export const deleteEndUser = defineOperation('DELETE /v1/end-users/{id}', {
  name: 'end_users.delete',
  summary: "Removes an end user's record: its plan, attributes and block. Its usage stays in the ledger.",
  access: { role: 'developer', of: 'end_user' },
  handle: async ({ services, resource }) => {
    assertRemoved(await removeEndUser(services.db, resource.id))
  },
})
