import { hasRole, type Role } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import type { Db } from '../../storage/pool.ts'
import { hasOtherOwner, type MemberWithUserRow } from '../../storage/users/members.ts'

/** Throws 403 `insufficient_role` if one of the roles is above the actor's: only owners may add or change owners. */
export function assertRoleCovers(held: Role, ...concerned: readonly Role[]): void {
  if (concerned.every(role => hasRole(held, role))) return
  throw new Fault('insufficient_role', 'Only an owner may add, change or remove an owner.')
}

/**
 * Throws 409 `resource_conflict` if the member is the last owner, since an organization without an owner could never get
 * one again. The caller of `tx` must have locked the organization.
 */
export async function assertNotLastOwner(tx: Db, member: MemberWithUserRow): Promise<void> {
  if (member.role !== 'owner' || member.accepted_at === null) return
  if (await hasOtherOwner(tx, member.org_id, member.id)) return
  throw new Fault(
    'resource_conflict',
    'This is the last owner of the organization. Make another member owner first.',
  )
}
