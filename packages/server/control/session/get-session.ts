import { getUser } from '../../storage/users/users.ts'
import { defineOperation } from '../operation/operation.ts'
import { loadSessionResource, SessionResource } from './session-resource.ts'

export const getSession = defineOperation('GET /v1/session', {
  name: 'session.get',
  summary: 'The signed-in user, with the organizations and the role in each.',
  access: 'session',
  response: { 200: SessionResource },
  handle: async ({ services, actor }) =>
    await services.scopeSlots.run(actor, async () =>
      loadSessionResource(services, await getUser(services.wholeDb, actor.id)),
    ),
})
