import { Fault } from '../../core/fault.ts'
import { hasRole, type Role } from '../../core/permissions.ts'

/** For what depends on more than the route: an operation's own `access` was checked before. */
export function requireRole(held: Role, needed: Role): void {
  if (hasRole(held, needed)) return
  throw new Fault('insufficient_role', `This needs the role ${needed} or a higher one.`)
}
