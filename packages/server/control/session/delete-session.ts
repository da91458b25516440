import { removeSession, removeUserSessions } from '../../storage/users/sessions.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { clearSession } from './session-life.ts'

export const deleteSession = defineOperation('DELETE /v1/session', {
  name: 'session.delete',
  summary: 'Ends this session or, with `everywhere=true`, all sessions of the user.',
  access: 'session',
  endsSession: true,
  query: z.strictObject({ everywhere: z.enum(['true', 'false']).optional() }),
  before: async ({ actor }) => ({ id: actor.sessionId }),
  audit: ({ actor }) => ({ resourceId: actor.sessionId }),
  handle: async ({ services, actor, answer, query }) => {
    if (query.everywhere === 'true') await removeUserSessions(services.wholeDb, actor.id)
    else await removeSession(services.wholeDb, actor.sessionId)
    clearSession(services, answer)
  },
})
