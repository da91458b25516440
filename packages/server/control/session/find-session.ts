import { hashToken } from '../../core/access/opaque-token.ts'
import type { MemberActor } from '../../core/access/permissions.ts'
import { listMemberships } from '../../storage/users/members.ts'
import { findSessionByHash, updateSessionLastUsed } from '../../storage/users/sessions.ts'
import type { Caller } from '../operation/caller.ts'
import type { Services } from '../operation/operation.ts'
import { readSessionToken } from './session-cookie.ts'
import { isSessionOver } from './session-life.ts'

/** How stale a session's last use may be. One write a minute is enough for any number of calls. */
const TOUCH_INTERVAL_MS = 60_000

/** Returns the user of the caller's session cookie; undefined if there is no cookie or the session has ended. */
export async function findSession(services: Services, caller: Caller): Promise<MemberActor | undefined> {
  const { wholeDb, clock } = services
  const token = readSessionToken(caller, services.baseUrl())
  if (token === undefined) return undefined
  const session = await findSessionByHash(wholeDb, hashToken(token))
  if (session === undefined) return undefined
  const now = clock.now()
  if (isSessionOver(session, now)) return undefined
  if (session.last_used_at.getTime() <= now - TOUCH_INTERVAL_MS)
    await updateSessionLastUsed(wholeDb, session.id, new Date(now))
  const memberships = await listMemberships(wholeDb, session.user_id)
  return {
    kind: 'member',
    id: session.user_id,
    sessionId: session.id,
    memberships: memberships.map(({ id, org_id, role }) => ({ memberId: id, orgId: org_id, role })),
  }
}
