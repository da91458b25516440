/** Who acts on the control plane, and what its role lets it do there (contract.md §4 "Roles"). Pure. */

/** From least to most: each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const

export type Role = (typeof ROLES)[number]

/** A management key acts in one organization, with a role capped at admin. */
export interface ManagementKeyActor {
  readonly kind: 'management_key'
  readonly id: string
  readonly orgId: string
  readonly role: Exclude<Role, 'owner'>
}

/** A person, signed in by a session, acts in every organization that it is a member of. */
export interface MemberActor {
  readonly kind: 'member'
  /** The user's id. */
  readonly id: string
  readonly sessionId: string
  /** As they stand at this very call: a removed member has lost its organization. */
  readonly memberships: readonly { readonly memberId: string; readonly orgId: string; readonly role: Role }[]
}

export type Actor = ManagementKeyActor | MemberActor

/** The organizations whose resources the actor may see at all. */
export function organizationsOf(actor: Actor): readonly string[] {
  return actor.kind === 'member' ? actor.memberships.map(({ orgId }) => orgId) : [actor.orgId]
}

/** Whose part in an organization it is; the actor must have one. */
export function memberIdIn(actor: MemberActor, orgId: string): string {
  const membership = actor.memberships.find(member => member.orgId === orgId)
  if (membership === undefined) throw new Error('who has no part in an organization was let in')
  return membership.memberId
}

/** undefined: the actor has no part in this organization, and its resources do not exist for it. */
export function roleIn(actor: Actor, orgId: string): Role | undefined {
  if (actor.kind === 'member') return actor.memberships.find(member => member.orgId === orgId)?.role
  return actor.orgId === orgId ? actor.role : undefined
}

/** Does the actor hold the role in an organization of its own? Everyone is a viewer of what belongs to nobody. */
export function hasRoleAnywhere(actor: Actor, needed: Role): boolean {
  if (needed === 'viewer') return true
  return organizationsOf(actor).some(orgId => hasRole(roleIn(actor, orgId) ?? 'viewer', needed))
}

export function hasRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed)
}
