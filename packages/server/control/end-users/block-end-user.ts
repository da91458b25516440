import { blockEndUser as storeBlock } from '../../storage/end-users/end-users.ts'
import { defineOperation } from '../operation/operation.ts'
import { EndUserResource } from './end-user-resource.ts'
import { readEndUser } from './read-end-user.ts'

export const blockEndUser = defineOperation('POST /v1/end-users/{id}/block', {
  name: 'end_users.block',
  summary: 'Rejects further requests of the end user. A second call changes nothing.',
  access: { role: 'developer', of: 'end_user' },
  response: { 200: EndUserResource },
  handle: async ({ services, resource }) => {
    await storeBlock(services.db, resource.id, new Date(services.clock.now()))
    return await readEndUser(services, resource.id)
  },
})
