import { hasRole, type Role } from '../../core/access/permissions.ts'
import { insufficientRole } from './granted-access.ts'

/**
 * Throws `insufficient_role` for a rule that depends on more than the route; the operation's `access` was checked before.
 */
export function assertRole(held: Role, needed: Role): void {
  if (hasRole(held, needed)) return
  throw insufficientRole(needed)
}
