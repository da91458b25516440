import { listEndUsers as loadEndUsers } from '../../storage/end-users.ts'
import { textParam } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { EndUserResource, measureEndUsers, toEndUserResource } from './end-user-resource.ts'

export const listEndUsers = defineOperation('GET /v1/environments/{envId}/end-users', {
  name: 'end_users.list',
  summary: "An environment's end users, newest first, with their usage to date.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject({
    ...pageQuery,
    q: textParam(255).optional().meta({ description: 'Those whose `external_id` begins with this text.' }),
    external_id: textParam(255).optional().meta({ description: 'The one with this `external_id`.' }),
    plan: textParam(64).optional().meta({ description: 'Those who have been given the plan of this name.' }),
    blocked: z.enum(['true', 'false']).optional(),
  }),
  response: { 200: listOf(EndUserResource) },
  handle: ({ services, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...sent } = query
    const filter = {
      beginning: query.q,
      externalId: query.external_id,
      plan: query.plan,
      isBlocked: query.blocked === undefined ? undefined : query.blocked === 'true',
    }
    return loadPage(
      query,
      ['end_users.list', resource.id, sent],
      async page => measureEndUsers(services, await loadEndUsers(services.db, resource.id, page, filter)),
      toEndUserResource,
    )
  },
})
