import { lockOrganization } from '../../storage/tenancy/organizations.ts'
import { findMember, updateMemberRole } from '../../storage/users/members.ts'
import { noResource } from '../operation/granted-access.ts'
import { defineOperation } from '../operation/operation.ts'
import { MemberChange } from './member-body.ts'
import { MemberResource, toMemberResource } from './member-resource.ts'
import { assertNotLastOwner, assertRoleCovers } from './member-rules.ts'

export const updateMember = defineOperation('PATCH /v1/members/{memberId}', {
  name: 'members.update',
  summary: "Changes a member's role, from the member's next call on.",
  access: { role: 'admin', of: 'member' },
  body: MemberChange,
  response: { 200: MemberResource },
  faults: ['resource_conflict'],
  handle: async ({ services, role, resource, body }) => {
    const wanted = body.role
    if (wanted === undefined) return toMemberResource(resource)
    return await services.db.transaction().execute(async tx => {
      // If two owners demote each other concurrently, the second finds itself the last owner.
      await lockOrganization(tx, resource.org_id)
      const member = await findMember(tx, resource.id)
      if (member === undefined) throw noResource()
      assertRoleCovers(role, member.role, wanted)
      if (wanted !== 'owner') await assertNotLastOwner(tx, member)
      const now = new Date(services.clock.now())
      await updateMemberRole(tx, member.id, wanted, now)
      return toMemberResource({ ...member, role: wanted, updated_at: now })
    })
  },
})
