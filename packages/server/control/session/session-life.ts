import { createToken, hashToken } from '../../core/access/opaque-token.ts'
import type { Db } from '../../storage/pool.ts'
import type { SessionRow, UserRow } from '../../storage/schema.ts'
import { insertSession, removeExpiredSessions, removeSessionByHash } from '../../storage/users/sessions.ts'
import { lockUser } from '../../storage/users/users.ts'
import type { Caller } from '../operation/caller.ts'
import type { Answer, Services } from '../operation/operation.ts'
import { readSessionToken, setSessionCookie } from './session-cookie.ts'

/** A session ends this long after its last use. */
const IDLE_MS = 7 * 24 * 3_600_000
/** A session ends this long after sign-in, even if it is used. */
const LIFE_MS = 30 * 24 * 3_600_000

/** True if the session has expired or was not used for too long. */
export function isSessionOver(session: SessionRow, now: number): boolean {
  return session.expires_at.getTime() <= now || session.last_used_at.getTime() + IDLE_MS <= now
}

/**
 * Signs the user in with a new token, which replaces the caller's session. Returns false if the password changed since
 * `user` was read: that user's credential was checked against the old password.
 */
export async function startSession(
  services: Services,
  caller: Caller,
  answer: Answer,
  user: UserRow,
): Promise<boolean> {
  const token = await services.wholeDb.transaction().execute(async tx => {
    const now = await lockUser(tx, user.id)
    if (now.password_hash !== user.password_hash) return undefined
    return await replaceSession(tx, services, caller, user.id)
  })
  if (token === undefined) return false
  setSessionCookie(answer, token, LIFE_MS, services.baseUrl())
  return true
}

/** Creates a session and returns its token. The caller of `tx` must have locked the user. */
async function replaceSession(tx: Db, services: Services, caller: Caller, userId: string): Promise<string> {
  const now = services.clock.now()
  const previous = readSessionToken(caller, services.baseUrl())
  if (previous !== undefined) await removeSessionByHash(tx, hashToken(previous))
  await removeExpiredSessions(tx, new Date(now), new Date(now - IDLE_MS))
  const token = createToken(services.random)
  await insertSession(tx, {
    id: services.newId(),
    user_id: userId,
    hash: hashToken(token),
    created_at: new Date(now),
    last_used_at: new Date(now),
    expires_at: new Date(now + LIFE_MS),
  })
  return token
}

/** Deletes the session cookie in the browser. */
export function clearSession(services: Services, answer: Answer): void {
  setSessionCookie(answer, undefined, 0, services.baseUrl())
}
