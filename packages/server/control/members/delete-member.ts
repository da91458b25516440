import { findMember, removeMember } from '../../storage/members.ts'
import { lockOrganization } from '../../storage/organizations.ts'
import { noResource } from '../operation/granted-access.ts'
import { defineOperation } from '../operation/operation.ts'
import { z } from '../operation/zod.ts'
import { assertNotLastOwner, assertRoleCovers } from './member-rules.ts'

export const deleteMember = defineOperation({
  name: 'members.delete',
  summary: 'Removes a member, whose sessions lose the organization at once, or withdraws an invitation.',
  method: 'DELETE',
  path: '/v1/members/{memberId}',
  access: { role: 'admin', of: 'member' },
  response: { 204: z.undefined() },
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
