import { hasUsers } from '../../storage/users/users.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

const SignInOptions = z
  .strictObject({
    setup_open: z
      .boolean()
      .meta({ description: 'No user exists: the first-run set-up is still to be done.' }),
    oidc: z.boolean().meta({ description: 'Users can sign in by OpenID Connect.' }),
  })
  .meta({ id: 'SignInOptions' })

export const getSignInOptions = defineOperation('GET /v1/session/options', {
  name: 'session.get_options',
  summary: 'What the sign-in page offers.',
  access: 'public',
  response: { 200: SignInOptions },
  faults: ['control_rate_limit_exceeded'],
  handle: async ({ services }) => ({
    setup_open: !(await hasUsers(services.wholeDb)),
    oidc: services.oidcIssuer !== undefined,
  }),
})
