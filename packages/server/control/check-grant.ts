import { hasRole, type ManagementKeyActor, type MemberActor } from '../core/access/permissions.ts'
import { Fault } from '../core/fault.ts'
import { findManagementKey } from '../storage/keys/management-keys.ts'
import type { Db } from '../storage/pool.ts'
import type { EnterScope } from '../storage/tenant-scope.ts'
import { listMemberships } from '../storage/users/members.ts'
import { findSessionById } from '../storage/users/sessions.ts'
import { type GrantedAccess, insufficientRole, noResource } from './operation/granted-access.ts'
import type { Services } from './operation/operation.ts'
import { isSessionOver } from './session/session-life.ts'

/**
 * Returns what checks, in the transaction of an authorized call, that the actor still has the right that it was granted before
 * the body was read. Otherwise a body that arrives slowly would keep a right for a minute after its end: a removed member or
 * a thief whose session was ended could still create a management key.
 */
export function checkGrantBy({ clock }: Pick<Services, 'clock'>, granted: GrantedAccess): EnterScope {
  const { actor } = granted
  return async db => {
    if (actor?.kind === 'member') await assertMember(db, actor, granted, clock.now())
    else if (actor !== undefined) await assertKey(db, actor, clock.now())
  }
}

async function assertMember(
  db: Db,
  actor: MemberActor,
  { orgId, role }: GrantedAccess,
  now: number,
): Promise<void> {
  const session = await findSessionById(db, actor.sessionId)
  if (session === undefined || isSessionOver(session, now)) {
    throw new Fault('unauthenticated', 'The session has ended. Sign in again.')
  }
  if (orgId === undefined || role === undefined) return
  const memberships = await listMemberships(db, actor.id)
  const held = memberships.find(({ org_id }) => org_id === orgId)?.role
  if (held === undefined) throw noResource()
  if (!hasRole(held, role)) throw insufficientRole(role)
}

async function assertKey(db: Db, { id }: ManagementKeyActor, now: number): Promise<void> {
  const key = await findManagementKey(db, id)
  if (key === undefined || key.revoked_at !== null) {
    throw new Fault('key_revoked', 'The management key was revoked.')
  }
  if (key.expires_at !== null && key.expires_at.getTime() <= now) {
    throw new Fault('key_expired', 'The management key has expired.')
  }
}
