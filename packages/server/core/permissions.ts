/** Who acts on the control plane, and what its role lets it do there (contract.md §4 "Roles"). Pure. */

/** From least to most: each role may do all that the ones before it may. */
const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const

export type Role = (typeof ROLES)[number]

/** A management key acts in one organization, with a role capped at admin. */
export interface Actor {
  readonly kind: 'management_key'
  readonly id: string
  readonly orgId: string
  readonly role: Exclude<Role, 'owner'>
}

/** The organizations whose resources the actor may see at all. */
export function organizationsOf(actor: Actor): readonly string[] {
  return [actor.orgId]
}

/** undefined: the actor has no part in this organization, and its resources do not exist for it. */
export function roleIn(actor: Actor, orgId: string): Role | undefined {
  return actor.orgId === orgId ? actor.role : undefined
}

export function hasRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed)
}
