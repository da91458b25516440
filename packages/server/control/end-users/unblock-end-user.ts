import { unblockEndUser as storeUnblock } from '../../storage/end-users/end-users.ts'
import { defineOperation } from '../operation/operation.ts'
import { EndUserResource } from './end-user-resource.ts'
import { readEndUser } from './read-end-user.ts'

export const unblockEndUser = defineOperation('POST /v1/end-users/{id}/unblock', {
  name: 'end_users.unblock',
  summary: 'Accepts requests of the end user again. A second call changes nothing.',
  access: { role: 'developer', of: 'end_user' },
  response: { 200: EndUserResource },
  handle: async ({ services, resource }) => {
    await storeUnblock(services.db, resource.id, new Date(services.clock.now()))
    return await readEndUser(services, resource.id)
  },
})
