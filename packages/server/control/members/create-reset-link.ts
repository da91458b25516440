import { createToken, hashToken } from '../../core/access/opaque-token.ts'
import { Fault } from '../../core/fault.ts'
import { upsertPasswordReset } from '../../storage/users/password-resets.ts'
import { dateTime } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { mayResetPassword } from './reset-authority.ts'

const RESET_MS = 3_600_000

export const createResetLink = defineOperation('POST /v1/members/{memberId}/reset-link', {
  name: 'members.create_reset_link',
  summary:
    'Creates a link with which a member can set a new password, once, within an hour. The previous link becomes invalid.',
  access: { role: 'owner', of: 'member' },
  response: {
    201: z.strictObject({ reset_url: z.string(), expires_at: dateTime }).meta({ id: 'ResetLink' }),
  },
  faults: ['resource_conflict'],
  authorize: async ({ services, actor, resource }) => {
    const userId = resource.user_id
    if (userId === null) {
      throw new Fault(
        'resource_conflict',
        'The invitation was not accepted yet, so there is no password to reset.',
      )
    }
    if (userId === actor.id) {
      throw new Fault('resource_conflict', 'Change your own password with POST /v1/session/password.')
    }
    const { wholeDb, scopeSlots, oidcIssuer } = services
    if (!(await scopeSlots.run(actor, () => mayResetPassword(wholeDb, actor.id, userId, oidcIssuer)))) {
      throw new Fault(
        'insufficient_role',
        'Only an owner of every organization of this user may do this, and not if the user signs in by the configured OIDC issuer.',
      )
    }
  },
  handle: async ({ services, actor, resource }) => {
    const token = createToken(services.random)
    const now = services.clock.now()
    const expiresAt = new Date(now + RESET_MS)
    await upsertPasswordReset(services.db, {
      // `authorize` has refused a member without a user.
      user_id: resource.user_id as string,
      hash: hashToken(token),
      issued_by: actor.id,
      created_at: new Date(now),
      expires_at: expiresAt,
    })
    return {
      // The token follows the `#`, so that no server's log and no other site receives it.
      reset_url: `${services.baseUrl()}/reset-password#token=${token}`,
      expires_at: expiresAt.toISOString(),
    }
  },
})
