import { lockOrganization } from '../../storage/tenancy/organizations.ts'
import { findMember, removeMember } from '../../storage/users/members.ts'
import { noResource } from '../operation/granted-access.ts'
import { defineOperation } from '../operation/operation.ts'
import { assertNotLastOwner, assertRoleCovers } from './member-rules.ts'

export const deleteMember = defineOperation('DELETE /v1/members/{memberId}', {
  name: 'members.delete',
  summary: 'Removes a member, whose sessions lose the organization at once, or withdraws an invitation.',
  access: { role: 'admin', of: 'member' },
  faults: ['resource_conflict'],
  handle: async ({ services, role, resource }) => {
    await services.db.transaction().execute(async tx => {
      await lockOrganization(tx, resource.org_id)
      const member = await findMember(tx, resource.id)
      if (member === undefined) throw noResource()
      assertRoleCovers(role, member.role)
      await assertNotLastOwner(tx, member)
      await removeMember(tx, member.id)
    })
  },
})
