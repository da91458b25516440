import { listEndUsers as loadEndUsers } from '../../storage/end-users.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { EndUserResource, measureEndUsers, toEndUserResource } from './end-user-resource.ts'

export const listEndUsers = defineOperation('GET /v1/environments/{envId}/end-users', {
  name: 'end_users.list',
  summary: "An environment's end users, newest first, with their usage to date.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject(pageQuery),
  response: { 200: listOf(EndUserResource) },
  handle: ({ services, resource, query }) =>
    loadPage(
      query,
      ['end_users.list', resource.id],
      async page => measureEndUsers(services, await loadEndUsers(services.db, resource.id, page)),
      toEndUserResource,
    ),
})
