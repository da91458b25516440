import { listMembers as loadMembers } from '../../storage/users/members.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { MemberResource, toMemberResource } from './member-resource.ts'

export const listMembers = defineOperation('GET /v1/orgs/{orgId}/members', {
  name: 'members.list',
  summary: "An organization's members and invitations, newest first.",
  access: { role: 'viewer', of: 'org' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(MemberResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['members.list', resource.id],
      page => loadMembers(services.db, resource.id, page),
      toMemberResource,
    ),
})
