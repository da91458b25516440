import type { Role } from '../../core/access/permissions.ts'
import { hasLiveOrganization } from '../live-owner.ts'
import { type Page, selectPage } from '../page.ts'
import type { Db } from '../pool.ts'
import type { MemberRow } from '../schema.ts'
import { defineTable } from '../table.ts'

export const { insert: insertMember, remove: removeMember } = defineTable('members', hasLiveOrganization)

/** A member with its user's email and name; both are null for a pending invitation, which has no user yet. */
export interface MemberWithUserRow extends MemberRow {
  user_email: string | null
  user_name: string | null
}

function selectMembers(db: Db) {
  return db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.org_id')
    .leftJoin('users', 'users.id', 'members.user_id')
    .selectAll('members')
    .select(['users.email as user_email', 'users.name as user_name'])
    .where('organizations.deleted_at', 'is', null)
}

/** The member or pending invitation; undefined if it does not exist or its organization is deleted. */
export async function findMember(db: Db, id: string): Promise<MemberWithUserRow | undefined> {
  return await selectMembers(db).where('members.id', '=', id).executeTakeFirst()
}

/** Members and pending invitations of an organization. */
export async function listMembers(db: Db, orgId: string, page: Page): Promise<MemberWithUserRow[]> {
  const query = selectMembers(db).where('members.org_id', '=', orgId)
  return await selectPage(query, page, 'members.created_at', 'members.id').execute()
}

/** The pending invitation whose token has this SHA-256, also an expired one. */
export async function findInvitationByHash(db: Db, hash: Buffer): Promise<MemberWithUserRow | undefined> {
  return await selectMembers(db)
    .where('members.invite_hash', '=', hash)
    .where('members.accepted_at', 'is', null)
    .executeTakeFirst()
}

/** Anybody with an organization may invite an address: more than these are accepted by their links only. */
const MAX_INVITATIONS = 100

/** The newest pending invitations of an address, in all organizations. */
export async function listInvitationsByEmail(db: Db, email: string): Promise<MemberWithUserRow[]> {
  return await selectMembers(db)
    .where('members.invite_email', '=', email)
    .where('members.accepted_at', 'is', null)
    .orderBy('members.created_at', 'desc')
    .orderBy('members.id', 'desc')
    .limit(MAX_INVITATIONS)
    .execute()
}

export async function removeExpiredInvitations(
  db: Db,
  orgId: string,
  email: string,
  now: Date,
): Promise<void> {
  await db
    .deleteFrom('members')
    .where('org_id', '=', orgId)
    .where('invite_email', '=', email)
    .where('accepted_at', 'is', null)
    .where('invite_expires_at', '<=', now)
    .execute()
}

/** True if the address belongs to a member of the organization or has a pending invitation. */
export async function hasMemberOrInvitation(db: Db, orgId: string, email: string): Promise<boolean> {
  const found = await db
    .selectFrom('members')
    .leftJoin('users', 'users.id', 'members.user_id')
    .select('members.id')
    .where('members.org_id', '=', orgId)
    .where(eb =>
      eb.or([
        eb('users.email', '=', email),
        eb.and([eb('members.invite_email', '=', email), eb('members.accepted_at', 'is', null)]),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Makes the user a member by the invitation and invalidates the invitation's link. */
export async function acceptInvitation(db: Db, id: string, userId: string, now: Date): Promise<void> {
  await db
    .updateTable('members')
    .set({
      user_id: userId,
      accepted_at: now,
      updated_at: now,
      invite_hash: null,
      invite_expires_at: null,
    })
    .where('id', '=', id)
    .execute()
}

export async function updateMemberRole(db: Db, id: string, role: Role, now: Date): Promise<void> {
  await db.updateTable('members').set({ role, updated_at: now }).where('id', '=', id).execute()
}

/** True if the organization has an owner besides this member. A pending invitation does not count. */
export async function hasOtherOwner(db: Db, orgId: string, memberId: string): Promise<boolean> {
  const found = await db
    .selectFrom('members')
    .select('id')
    .where('org_id', '=', orgId)
    .where('role', '=', 'owner')
    .where('accepted_at', 'is not', null)
    .where('id', '!=', memberId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export interface Membership {
  readonly id: string
  readonly role: Role
  readonly org_id: string
  readonly org_name: string
  readonly org_slug: string
}

/** The memberships of one user that count: each of its calls reads them. */
export const MAX_MEMBERSHIPS = 500

/**
 * The user's memberships, oldest first, without pending invitations and deleted organizations. Of more than MAX_MEMBERSHIPS those that were
 * accepted last: nobody's older ones can hide the one that a person has just accepted.
 */
export async function listMemberships(db: Db, userId: string): Promise<Membership[]> {
  const newest = db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.org_id')
    .select([
      'members.id',
      'members.role',
      'members.org_id',
      'members.created_at',
      'organizations.name as org_name',
      'organizations.slug as org_slug',
    ])
    .where('members.user_id', '=', userId)
    .where('members.accepted_at', 'is not', null)
    .where('organizations.deleted_at', 'is', null)
    .orderBy('members.accepted_at', 'desc')
    .orderBy('members.id', 'desc')
    .limit(MAX_MEMBERSHIPS)
  return await db
    .selectFrom(newest.as('members'))
    .select(['id', 'role', 'org_id', 'org_name', 'org_slug'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}
