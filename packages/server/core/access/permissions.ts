/** The actors of the control plane and what their roles allow. Pure. */

/** Ordered from least to most: each role includes the ones before it. */
export const ROLES = ['viewer', 'developer', 'admin', 'owner'] as const

export type Role = (typeof ROLES)[number]

/** A management key acts in one organization, with a role capped at admin. */
export interface ManagementKeyActor {
  readonly kind: 'management_key'
  readonly id: string
  readonly orgId: string
  readonly role: Exclude<Role, 'owner'>
}

/** A signed-in person acts in every organization of which it is a member. */
export interface MemberActor {
  readonly kind: 'member'
  /** The user's id. */
  readonly id: string
  readonly sessionId: string
  /** Read for each call, so that a removed member loses access at once. */
  readonly memberships: readonly { readonly memberId: string; readonly orgId: string; readonly role: Role }[]
}

export type Actor = ManagementKeyActor | MemberActor

/** Returns the ids of the organizations whose resources the actor may see. */
export function organizationsOf(actor: Actor): readonly string[] {
  return actor.kind === 'member' ? actor.memberships.map(({ orgId }) => orgId) : [actor.orgId]
}

/** Returns the id of the actor's membership in an organization. Throws if there is none: callers check it before. */
export function memberIdIn(actor: MemberActor, orgId: string): string {
  const membership = actor.memberships.find(member => member.orgId === orgId)
  if (membership === undefined)
    throw new Error(`the user ${actor.id} is not a member of the organization ${orgId}`)
  return membership.memberId
}

/** Returns the actor's role in an organization; undefined if it has none, so that its resources do not exist for it. */
export function roleIn(actor: Actor, orgId: string): Role | undefined {
  if (actor.kind === 'member') return actor.memberships.find(member => member.orgId === orgId)?.role
  return actor.orgId === orgId ? actor.role : undefined
}

/** True if the actor has the role in at least one of its organizations. Every actor may view what has no owner. */
export function hasRoleAnywhere(actor: Actor, needed: Role): boolean {
  if (needed === 'viewer') return true
  return organizationsOf(actor).some(orgId => hasRole(roleIn(actor, orgId) ?? 'viewer', needed))
}

export function hasRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed)
}
