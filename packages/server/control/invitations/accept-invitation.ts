import { hashToken } from '../../core/access/opaque-token.ts'
import { Fault } from '../../core/fault.ts'
import { createRandomId } from '../../core/ids.ts'
import { toAddressNetwork } from '../../http/head/client-address.ts'
import type { Db } from '../../storage/pool.ts'
import type { UserRow } from '../../storage/schema.ts'
import { lockOrganization } from '../../storage/tenancy/organizations.ts'
import { lockEmail } from '../../storage/users/identities.ts'
import {
  findInvitationByHash,
  findMember,
  type MemberWithUserRow,
  acceptInvitation as storeAcceptance,
} from '../../storage/users/members.ts'
import { removeUserPasswordReset } from '../../storage/users/password-resets.ts'
import { removeUserSessions } from '../../storage/users/sessions.ts'
import { getUser, insertUser, lockUser } from '../../storage/users/users.ts'
import { MemberResource, toMemberResource } from '../members/member-resource.ts'
import { assertSameOrigin, assertSameOriginWrite, type Caller } from '../operation/caller.ts'
import { passwordField, textField, tokenField } from '../operation/fields.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { findUserByHash, hashForAddress } from '../session/address-password.ts'
import { findSession } from '../session/find-session.ts'

const AcceptBody = z
  .strictObject({
    token: tokenField,
    password: passwordField.nullish(),
    name: textField(200).nullish(),
  })
  .meta({ id: 'InvitationAcceptance' })

type Acceptance = z.output<typeof AcceptBody>

export const acceptInvitation = defineOperation('POST /v1/invitations/accept', {
  name: 'invitations.accept',
  summary:
    'Joins an organization by an invitation: with the session or the `password` of an account of the invited address, or else with a `password` that creates an account. The answer does not tell which.',
  access: 'public',
  body: AcceptBody,
  response: { 200: MemberResource },
  faults: [
    'resource_not_found',
    'resource_conflict',
    'sign_in_failed',
    'csrf_failed',
    'control_rate_limit_exceeded',
  ],
  before: async ({ services, body }) => {
    const invitation = await findInvitationByHash(services.wholeDb, hashToken(body.token))
    return invitation === undefined ? null : toMemberResource(invitation)
  },
  audit: (_, member) => ({
    orgIds: [member.org_id],
    resourceId: member.id,
    ...(member.user === null ? {} : { actor: { kind: 'member', id: member.user.id } }),
  }),
  handle: async ({ services, caller, body }) => {
    const { wholeDb } = services
    assertSameOrigin(caller, services.baseUrl())
    const refund = services.rates.countAttempt('accept_invitation', caller.address)
    const tokenHash = hashToken(body.token)
    const invitation = await getLive(services, tokenHash)
    const email = invitation.invite_email ?? ''
    const signedIn = await findSignedIn(services, caller, email)
    const passwordHash = signedIn === undefined ? await hashPassword(services, caller, email, body) : null
    const member = await wholeDb.transaction().execute(async tx => {
      await lockEmail(tx, email)
      await lockOrganization(tx, invitation.org_id)
      // The invitation may have been accepted or withdrawn while the password was hashed.
      const live = await getLive({ ...services, wholeDb: tx }, tokenHash)
      const userId =
        signedIn === undefined
          ? await getOrInsertUser(tx, services, { email, passwordHash, name: body.name ?? null })
          : await lockSignedIn(tx, signedIn)
      // An owner of all of the person's previous organizations must not get into this one by an older reset link.
      await removeUserPasswordReset(tx, userId)
      await storeAcceptance(tx, live.id, userId, new Date(services.clock.now()))
      return toMemberResource((await findMember(tx, live.id)) as MemberWithUserRow)
    })
    refund()
    return member
  },
})

async function getLive(
  services: Pick<Services, 'wholeDb' | 'clock'>,
  hash: Buffer,
): Promise<MemberWithUserRow> {
  const found = await findInvitationByHash(services.wholeDb, hash)
  if (found === undefined || (found.invite_expires_at?.getTime() ?? 0) <= services.clock.now()) {
    throw new Fault('resource_not_found', 'The invitation is unknown, used, withdrawn or expired.', {
      param: 'token',
    })
  }
  return found
}

/** The account of the caller's session, if the invitation is for its address; undefined otherwise. */
async function findSignedIn(services: Services, caller: Caller, email: string): Promise<UserRow | undefined> {
  const session = await findSession(services, caller)
  if (session === undefined) return undefined
  const user = await getUser(services.wholeDb, session.id)
  if (user.email.toLowerCase() !== email) return undefined
  assertSameOriginWrite(caller, services.baseUrl())
  return user
}

/** Locks the account. A password that changed since it was read has ended the session. */
async function lockSignedIn(tx: Db, user: UserRow): Promise<string> {
  if ((await lockUser(tx, user.id)).password_hash === user.password_hash) return user.id
  throw new Fault('sign_in_failed', 'The password of this account was changed. Sign in again.')
}

/** Hashes the password for every address alike, so that an invitation does not reveal who has an account. */
async function hashPassword(
  services: Services,
  caller: Caller,
  email: string,
  { password }: Acceptance,
): Promise<string> {
  if (password === undefined || password === null) {
    throw new Fault(
      'invalid_request',
      "Sign in as the invited address, or send a password: your account's, or one for a new account.",
      { param: 'password' },
    )
  }
  // The password may be a guess at an existing account's.
  services.rates.countSignIn(email, caller.address)
  return await hashForAddress(services, email, password, toAddressNetwork(caller.address))
}

/**
 * Returns the account of the address that has this password, or creates one. The link does not prove who holds it, since
 * the inviter handled it too. So it opens no existing account; and no existing account, whoever made it, closes the link.
 */
async function getOrInsertUser(
  tx: Db,
  services: Services,
  { email, passwordHash, name }: { email: string; passwordHash: string | null; name: string | null },
): Promise<string> {
  const existing = passwordHash === null ? undefined : await findUserByHash(tx, email, passwordHash)
  if (existing !== undefined) {
    // Whoever made an unproven account may still be signed in to it, and would join without knowing which password the person gave.
    if (!existing.email_proven) await removeUserSessions(tx, existing.id)
    return existing.id
  }
  const now = new Date(services.clock.now())
  const id = createRandomId(services.random)
  await insertUser(tx, {
    id,
    email,
    name,
    password_hash: passwordHash,
    email_proven: false,
    created_at: now,
    updated_at: now,
  })
  return id
}
