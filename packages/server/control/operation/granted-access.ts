import type { Actor, Role } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import type { Resources } from './resources.ts'

/** The result of the access check of a call. */
export interface GrantedAccess {
  /** undefined: the operation is public. */
  readonly actor: Actor | undefined
  /** The actor's role in the organization; undefined if the operation has no resource. */
  readonly role: Role | undefined
  readonly resource: Resources[keyof Resources] | undefined
  /** The organization that the resource belongs to. */
  readonly orgId: string | undefined
}

/** The fault for an id that does not exist or that the caller may not see. */
export function noResource(): Fault {
  return new Fault('resource_not_found', 'No resource has this id, or you may not see it.')
}

export function insufficientRole(needed: Role): Fault {
  const orHigher = needed === 'owner' ? '' : ' or a higher one'
  return new Fault('insufficient_role', `This needs the role ${needed}${orHigher}.`)
}
