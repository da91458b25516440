import { Fault } from '../../core/fault.ts'
import { lockEmail } from '../../storage/users/identities.ts'
import { getUser, lockUser } from '../../storage/users/users.ts'
import { givenPasswordField, passwordField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { assertDistinctPassword, hashForAddress } from './address-password.ts'
import { startSession } from './session-life.ts'
import { loadSessionResource, SessionResource } from './session-resource.ts'
import { storePassword } from './store-password.ts'

const PasswordChange = z
  .strictObject({ current_password: givenPasswordField, new_password: passwordField })
  .meta({ id: 'PasswordChange' })

export const changePassword = defineOperation('POST /v1/session/password', {
  name: 'session.change_password',
  summary: "Changes the caller's own password. Every session of the user ends; the caller gets a new one.",
  access: 'session',
  endsSession: true,
  body: PasswordChange,
  response: { 200: SessionResource },
  faults: ['resource_conflict', 'sign_in_failed'],
  // A password has no state that may be logged.
  before: async () => null,
  audit: ({ actor }) => ({ resourceId: actor.id }),
  handle: async ({ services, actor, caller, answer, body }) => {
    const { wholeDb, passwords, rates } = services
    const user = await getUser(wholeDb, actor.id)
    // An attacker who took over a session can guess no faster than at sign-in.
    const refund = rates.countAttempt('change_password', caller.address)
    rates.countSignIn(user.email, caller.address)
    if (!(await passwords.verify(body.current_password, user.password_hash, user.id))) throw wrongPassword()
    const email = user.email.toLowerCase()
    const hash = await hashForAddress(services, email, body.new_password, user.id)
    const now = new Date(services.clock.now())
    const changed = await wholeDb.transaction().execute(async tx => {
      await lockEmail(tx, email)
      const current = await lockUser(tx, user.id)
      if (current.password_hash !== user.password_hash) throw wrongPassword()
      await assertDistinctPassword(tx, current, hash)
      await storePassword(tx, user.id, hash, now)
      return { ...current, password_hash: hash }
    })
    // A concurrent change of the password ended the caller's right to a session.
    if (!(await startSession(services, caller, answer, changed))) throw wrongPassword()
    refund()
    return await loadSessionResource(services, changed)
  },
})

function wrongPassword(): Fault {
  return new Fault('sign_in_failed', 'The current password is wrong.', { param: 'current_password' })
}
