import { createRandomId } from '../../../core/ids.ts'
import type { Db } from '../../../storage/pool.ts'
import type { UserRow } from '../../../storage/schema.ts'
import { lockOrganizations } from '../../../storage/tenancy/organizations.ts'
import { findUserByIdentity, insertIdentity, lockEmail } from '../../../storage/users/identities.ts'
import {
  acceptInvitation,
  listInvitationsByEmail,
  listMemberships,
  MAX_MEMBERSHIPS,
  type MemberWithUserRow,
} from '../../../storage/users/members.ts'
import { removeUserPasswordReset } from '../../../storage/users/password-resets.ts'
import {
  absorbUsers,
  getUser,
  insertUser,
  listUsersByEmail,
  lockUser,
  updateEmailProven,
} from '../../../storage/users/users.ts'
import type { Services } from '../../operation/operation.ts'
import { storePassword } from '../store-password.ts'
import type { OidcPerson } from './oidc-client.ts'

/**
 * Returns the account of a person whom the issuer has authenticated: one that is linked already, one with the verified
 * e-mail address, or a new one for an invited address. undefined if there is none of these.
 */
export async function findOidcUser(services: Services, person: OidcPerson): Promise<UserRow | undefined> {
  const { issuer, subject, verifiedEmail: email } = person
  return await services.wholeDb.transaction().execute(async tx => {
    // Lock before the lookup, so that the second of two concurrent first sign-ins finds the account of the first.
    if (email !== undefined) await lockEmail(tx, email)
    const linked = await findUserByIdentity(tx, issuer, subject)
    if (linked !== undefined) return await endUnprovenPassword(tx, services, linked)
    if (email === undefined) return undefined
    const [existing, ...others] = await listUsersByEmail(tx, email)
    const created_at = new Date(services.clock.now())
    const invitations = await listLiveInvitations(tx, email, created_at)
    await lockOrganizations(
      tx,
      invitations.map(({ org_id }) => org_id),
    )
    if (existing === undefined && invitations.length === 0) return undefined
    const user =
      existing === undefined
        ? await createUser(tx, services, email, person.name)
        : await proveEmail(tx, services, existing, others)
    await joinInvited(tx, invitations, user, created_at)
    await insertIdentity(tx, { issuer, subject, user_id: user.id, created_at })
    return user
  })
}

/**
 * Returns the account without a password that somebody else may know. A linked address is unproven only since a reset link was
 * used, and by whom is unknown. The issuer has authenticated the person, whatever address it reports.
 */
async function endUnprovenPassword(tx: Db, services: Services, linked: UserRow): Promise<UserRow> {
  if (linked.email_proven) return linked
  const user = await lockUser(tx, linked.id)
  if (user.password_hash === null) return user
  await storePassword(tx, user.id, null, new Date(services.clock.now()))
  return await getUser(tx, user.id)
}

/**
 * Accounts with an unproven address may have been created, by invitations, by a person who does not own the address. A
 * person who proves the address takes them over as one account, since the organizations invited that address: their
 * previous passwords and sessions become invalid.
 */
async function proveEmail(
  tx: Db,
  services: Services,
  user: UserRow,
  others: readonly UserRow[],
): Promise<UserRow> {
  const now = new Date(services.clock.now())
  await lockUser(tx, user.id)
  await absorbUsers(
    tx,
    others.map(({ id }) => id),
    user.id,
    now,
  )
  if (user.email_proven) return user
  await updateEmailProven(tx, user.id, true, now)
  await storePassword(tx, user.id, null, now)
  return await getUser(tx, user.id)
}

async function createUser(
  tx: Db,
  services: Services,
  email: string,
  name: string | undefined,
): Promise<UserRow> {
  const now = new Date(services.clock.now())
  const user: UserRow = {
    id: createRandomId(services.random),
    email,
    name: name === undefined || name === '' ? null : name.slice(0, 200),
    password_hash: null,
    email_proven: true,
    created_at: now,
    updated_at: now,
  }
  await insertUser(tx, user)
  return user
}

async function listLiveInvitations(tx: Db, email: string, now: Date): Promise<MemberWithUserRow[]> {
  const invitations = await listInvitationsByEmail(tx, email)
  return invitations.filter(({ invite_expires_at }) => invite_expires_at !== null && invite_expires_at > now)
}

/**
 * Who proves an address may accept all invitations of it. Those of an organization that the account belongs to stay as they are.
 * An older reset link ends, as when an invitation is accepted by its link.
 */
async function joinInvited(
  tx: Db,
  invitations: readonly MemberWithUserRow[],
  user: UserRow,
  now: Date,
): Promise<void> {
  if (invitations.length === 0) return
  await removeUserPasswordReset(tx, user.id)
  const memberships = await listMemberships(tx, user.id)
  const joined = new Set(memberships.map(({ org_id }) => org_id))
  for (const { id, org_id } of invitations) {
    // Of more memberships, some are not listed.
    if (joined.size >= MAX_MEMBERSHIPS) return
    if (joined.has(org_id)) continue
    joined.add(org_id)
    await acceptInvitation(tx, id, user.id, now)
  }
}
