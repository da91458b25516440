import { hashToken } from '../../core/access/opaque-token.ts'
import { ROLES } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import { findOrganization } from '../../storage/tenancy/organizations.ts'
import { findInvitationByHash } from '../../storage/users/members.ts'
import { dateTime, tokenField } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'

const Invitation = z
  .strictObject({
    organization: z.strictObject({ name: z.string() }),
    email: z.string(),
    role: z.enum(ROLES),
    expires_at: dateTime,
  })
  .meta({ id: 'InvitationDetails' })

export const lookupInvitation = defineOperation('POST /v1/invitations/lookup', {
  name: 'invitations.lookup',
  summary: 'What an invitation is for, before it is accepted.',
  access: 'public',
  body: z.strictObject({ token: tokenField }).meta({ id: 'InvitationLookup' }),
  response: { 200: Invitation },
  faults: ['resource_not_found', 'control_rate_limit_exceeded'],
  audit: 'none',
  handle: async ({ services, caller, body }) => {
    const { wholeDb, rates, clock } = services
    const refund = rates.countAttempt('look_up_invitation', caller.address)
    const found = await findInvitationByHash(wholeDb, hashToken(body.token))
    const expiresAt = found?.invite_expires_at ?? null
    const organization = found === undefined ? undefined : await findOrganization(wholeDb, found.org_id)
    if (
      found === undefined ||
      organization === undefined ||
      expiresAt === null ||
      expiresAt.getTime() <= clock.now()
    ) {
      throw new Fault('resource_not_found', 'The invitation is unknown, used, withdrawn or expired.', {
        param: 'token',
      })
    }
    refund()
    return {
      organization: { name: organization.name },
      email: found.invite_email ?? '',
      role: found.role,
      expires_at: expiresAt.toISOString(),
    }
  },
})
