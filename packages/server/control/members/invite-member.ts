import { createToken, hashToken } from '../../core/access/opaque-token.ts'
import type { Actor } from '../../core/access/permissions.ts'
import { Fault } from '../../core/fault.ts'
import { findManagementKey } from '../../storage/keys/management-keys.ts'
import { lockOrganization } from '../../storage/tenancy/organizations.ts'
import { hasMemberOrInvitation, insertMember, removeExpiredInvitations } from '../../storage/users/members.ts'
import { defineOperation, type Services } from '../operation/operation.ts'
import { Invitation } from './member-body.ts'
import { InvitedMemberResource, toMemberResource } from './member-resource.ts'
import { assertRoleCovers } from './member-rules.ts'

const INVITATION_MS = 7 * 24 * 3_600_000

export const inviteMember = defineOperation('POST /v1/orgs/{orgId}/members', {
  name: 'members.invite',
  summary: 'Invites an e-mail address. The link to accept is in this response only.',
  access: { role: 'admin', of: 'org' },
  body: Invitation,
  response: { 201: InvitedMemberResource },
  faults: ['resource_conflict'],
  authorize: async ({ role, body }) => assertRoleCovers(role, body.role),
  handle: async ({ services, actor, resource, body }) => {
    const token = createToken(services.random)
    const now = new Date(services.clock.now())
    const row = {
      id: services.newId(),
      org_id: resource.id,
      user_id: null,
      role: body.role,
      invite_email: body.email,
      invited_by: await getInviter(services, actor),
      accepted_at: null,
      invite_hash: hashToken(token),
      invite_expires_at: new Date(now.getTime() + INVITATION_MS),
      created_at: now,
      updated_at: now,
    }
    await services.db.transaction().execute(async tx => {
      await lockOrganization(tx, resource.id)
      await removeExpiredInvitations(tx, resource.id, body.email, now)
      if (await hasMemberOrInvitation(tx, resource.id, body.email)) {
        throw new Fault('resource_conflict', 'This address is already a member or invited.', {
          param: 'email',
        })
      }
      await insertMember(tx, row)
    })
    return {
      ...toMemberResource({ ...row, user_email: null, user_name: null }),
      // The token follows the `#`, so that no server's log and no other site receives it.
      accept_url: `${services.baseUrl()}/accept-invitation#token=${token}`,
    }
  },
})

/** Returns the user who invites: of a management key, the user who created it or, if that is unknown, the key's id. */
async function getInviter({ db }: Pick<Services, 'db'>, actor: Actor): Promise<string> {
  if (actor.kind === 'member') return actor.id
  return (await findManagementKey(db, actor.id))?.created_by ?? actor.id
}
