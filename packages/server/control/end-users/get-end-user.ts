import { defineOperation } from '../operation/operation.ts'
import { EndUserResource } from './end-user-resource.ts'
import { readEndUser } from './read-end-user.ts'

export const getEndUser = defineOperation('GET /v1/end-users/{id}', {
  name: 'end_users.get',
  summary: 'One end user, with its usage to date.',
  access: { role: 'viewer', of: 'end_user' },
  response: { 200: EndUserResource },
  handle: ({ services, resource }) => readEndUser(services, resource.id),
})
