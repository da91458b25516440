import { hashToken } from '../../core/access/opaque-token.ts'
import { Fault } from '../../core/fault.ts'
import { lockEmail } from '../../storage/users/identities.ts'
import { findPasswordReset, removePasswordReset } from '../../storage/users/password-resets.ts'
import { getUser, lockUser, updateEmailProven } from '../../storage/users/users.ts'
import { mayResetPassword } from '../members/reset-authority.ts'
import { assertSameOrigin } from '../operation/caller.ts'
import { passwordField, tokenField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { assertDistinctPassword, hashForAddress } from './address-password.ts'
import { startSession } from './session-life.ts'
import { loadSessionResource, SessionResource } from './session-resource.ts'
import { storePassword } from './store-password.ts'

const PasswordReset = z
  .strictObject({ reset_token: tokenField, new_password: passwordField })
  .meta({ id: 'PasswordReset' })

export const resetPassword = defineOperation('POST /v1/session/password-reset', {
  name: 'session.reset_password',
  summary:
    "Sets a new password with an owner's reset link, once, and signs in. Every other session of the user ends.",
  access: 'public',
  body: PasswordReset,
  response: { 200: SessionResource },
  faults: ['resource_not_found', 'resource_conflict', 'csrf_failed', 'control_rate_limit_exceeded'],
  before: async () => null,
  audit: (_, { user, memberships }) => ({
    orgIds: memberships.map(({ organization }) => organization.id),
    resourceId: user.id,
    actor: { kind: 'member', id: user.id },
  }),
  handle: async ({ services, caller, answer, body }) => {
    const { wholeDb, clock, oidcIssuer } = services
    assertSameOrigin(caller, services.baseUrl())
    const refund = services.rates.countAttempt('reset_password', caller.address)
    const tokenHash = hashToken(body.reset_token)
    const reset = await findPasswordReset(wholeDb, tokenHash)
    if (reset === undefined || reset.expires_at.getTime() <= clock.now()) throw noLink()
    // Before the password is hashed: the time must not tell why a link is invalid.
    if (!(await mayResetPassword(wholeDb, reset.issued_by, reset.user_id, oidcIssuer))) throw noLink()
    const email = (await getUser(wholeDb, reset.user_id)).email.toLowerCase()
    // A password that another account of the address has is refused below, which is as good as a guess at sign-in.
    services.rates.countSignIn(email, caller.address)
    const password = await hashForAddress(services, email, body.new_password, reset.user_id)
    const changed = await wholeDb.transaction().execute(async tx => {
      await lockEmail(tx, email)
      const user = await lockUser(tx, reset.user_id)
      if (!(await removePasswordReset(tx, tokenHash))) throw noLink()
      // The issuer must still have the right: the user may have joined another organization.
      if (!(await mayResetPassword(tx, reset.issued_by, reset.user_id, oidcIssuer))) throw noLink()
      await assertDistinctPassword(tx, user, password)
      const now = new Date(clock.now())
      await storePassword(tx, reset.user_id, password, now)
      // Whoever used the link need not own the address: the person's next sign-in by OIDC ends this password (findOidcUser).
      await updateEmailProven(tx, reset.user_id, false, now)
      return { ...user, password_hash: password }
    })
    if (!(await startSession(services, caller, answer, changed))) throw noLink()
    refund()
    return await loadSessionResource(services, changed)
  },
})

function noLink(): Fault {
  return new Fault('resource_not_found', 'The reset link is unknown, used or expired.', {
    param: 'reset_token',
  })
}
