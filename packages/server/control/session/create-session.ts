import { Fault } from '../../core/fault.ts'
import { toAddressNetwork } from '../../http/head/client-address.ts'
import { findUserByPassword } from '../../storage/users/users.ts'
import { assertSameOrigin } from '../operation/caller.ts'
import { emailField, givenPasswordField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { hashForAddress } from './address-password.ts'
import { startSession } from './session-life.ts'
import { loadSessionResource, SessionResource } from './session-resource.ts'

export const createSession = defineOperation('POST /v1/session', {
  name: 'session.create',
  summary: 'Signs in by e-mail and password. The session cookie replaces any previous one.',
  access: 'public',
  body: z.strictObject({ email: emailField, password: givenPasswordField }).meta({ id: 'SignIn' }),
  response: { 201: SessionResource },
  faults: ['sign_in_failed', 'csrf_failed', 'control_rate_limit_exceeded'],
  audit: (_, { user, memberships }) => ({
    orgIds: memberships.map(({ organization }) => organization.id),
    resourceId: user.id,
    actor: { kind: 'member', id: user.id },
  }),
  handle: async ({ services, caller, answer, body }) => {
    // Otherwise a page of another site could sign a browser in to another account.
    assertSameOrigin(caller, services.baseUrl())
    services.rates.countSignIn(body.email, caller.address)
    // Hash even if there is no account, so that neither the response nor its time reveals who has one.
    const party = toAddressNetwork(caller.address)
    const hash = await hashForAddress(services, body.email, body.password, party)
    const user = await findUserByPassword(services.wholeDb, body.email, hash)
    if (user === undefined) throw signInFailed()
    if (!(await startSession(services, caller, answer, user))) throw signInFailed()
    return await loadSessionResource(services, user)
  },
})

function signInFailed(): Fault {
  return new Fault('sign_in_failed', 'The e-mail or the password is wrong.')
}
