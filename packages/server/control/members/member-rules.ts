import { Fault } from '../../core/fault.ts'
import { hasRole, type Role } from '../../core/permissions.ts'
import { hasOtherOwner, type StoredMember } from '../../storage/members.ts'
import type { Db } from '../../storage/pool.ts'

/** Nobody makes or changes a member above the own role: only owners have to do with owners. */
export function assertRoleCovers(held: Role, ...concerned: readonly Role[]): void {
  if (concerned.every(role => hasRole(held, role))) return
  throw new Fault('insufficient_role', 'Only an owner may do this to an owner.')
}

/** An organization without an owner could never have one again. `tx`: whose holder has locked the organization. */
export async function assertNotLastOwner(tx: Db, member: StoredMember): Promise<void> {
  if (member.role !== 'owner' || member.accepted_at === null) return
  if (await hasOtherOwner(tx, member.org_id, member.id)) return
  throw new Fault('resource_conflict', 'This is the last owner of the organization. Make another one first.')
}
