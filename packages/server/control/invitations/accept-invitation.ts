import { Fault } from '../../core/fault.ts'
import { hashToken } from '../../core/opaque-token.ts'
import {
  findInvitationByHash,
  findMember,
  type MemberWithUserRow,
  acceptInvitation as storeAcceptance,
} from '../../storage/members.ts'
import { lockOrganization } from '../../storage/organizations.ts'
import { removeUserPasswordReset } from '../../storage/password-resets.ts'
import type { UserRow } from '../../storage/schema.ts'
import { findUserByEmail, insertUser, lockUser } from '../../storage/users.ts'
import { MemberResource, toMemberResource } from '../members/member-resource.ts'
import { assertSameOriginWrite, type Caller } from '../operation/caller.ts'
import { passwordField, textField, tokenField } from '../operation/fields.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
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
    'Joins an organization by an invitation. A new user sends a `password`, which creates the account; an existing one needs its session or its password.',
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
    services.rates.countAttempt(caller.address)
    const hash = hashToken(body.token)
    const invitation = await findLive(services, hash)
    const { user, isNew } = await findPerson(services, caller, invitation.invite_email ?? '', body)
    return await wholeDb.transaction().execute(async tx => {
      await lockOrganization(tx, invitation.org_id)
      // The invitation may have been accepted or withdrawn while the password was verified.
      const live = await findLive({ ...services, wholeDb: tx }, hash)
      if (isNew) await insertUser(tx, user)
      // A password that changed since then invalidates both the password that was verified and the session.
      else if ((await lockUser(tx, user.id)).password_hash !== user.password_hash) throw wrongPassword()
      // An owner of all of the person's previous organizations must not get into this one by an older reset link.
      await removeUserPasswordReset(tx, user.id)
      await storeAcceptance(tx, live.id, user.id, new Date(services.clock.now()))
      return toMemberResource((await findMember(tx, live.id)) as MemberWithUserRow)
    })
  },
})

async function findLive(
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

/**
 * Returns the account that joins. The link alone is not enough for an existing account: the inviter handled it too, so it
 * does not prove who holds it.
 */
async function findPerson(
  services: Services,
  caller: Caller,
  email: string,
  { password, name }: Acceptance,
): Promise<{ user: UserRow; isNew: boolean }> {
  const session = await findSession(services, caller)
  const existing = await findUserByEmail(services.wholeDb, email)
  if (existing !== undefined && existing.id === session?.id) {
    assertSameOriginWrite(caller, services.baseUrl())
    return { user: existing, isNew: false }
  }
  // The same for every address, so that an invitation does not reveal who has an account.
  if (password === undefined || password === null) {
    throw new Fault(
      'invalid_request',
      "Send a password: the existing account's, or one for the new account.",
      {
        param: 'password',
      },
    )
  }
  if (existing !== undefined) {
    services.rates.countSignIn(email, caller.address)
    if (await services.passwords.verify(password, existing.password_hash))
      return { user: existing, isNew: false }
    throw wrongPassword()
  }
  const now = new Date(services.clock.now())
  const user = {
    id: services.newId(),
    email,
    name: name ?? null,
    password_hash: await services.passwords.hash(password),
    email_proven: false,
    created_at: now,
    updated_at: now,
  }
  return { user, isNew: true }
}

function wrongPassword(): Fault {
  return new Fault('sign_in_failed', "This is not the password of the invited address's account.", {
    param: 'password',
  })
}
