import { removeSession, removeUserSessions } from '../../storage/sessions.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { clearSession } from './session-life.ts'

export const deleteSession = defineOperation({
  name: 'session.delete',
  summary: 'Ends this session or, with `everywhere=true`, all sessions of the user.',
  method: 'DELETE',
  path: '/v1/session',
  access: 'session',
  query: z.strictObject({ everywhere: z.enum(['true', 'false']).optional() }),
  response: { 204: z.undefined() },
  before: async ({ actor }) => ({ id: actor.sessionId }),
  audit: ({ actor }) => ({ resourceId: actor.sessionId }),
  handle: async ({ services, actor, answer, query }) => {
    if (query.everywhere === 'true') await removeUserSessions(services.wholeDb, actor.id)
    else await removeSession(services.wholeDb, actor.sessionId)
    clearSession(services, answer)
  },
})
