import { Fault } from '../../core/fault.ts'
import {
  END_USER_ORDERS,
  findEndUser,
  listEndUsers as loadEndUsers,
} from '../../storage/end-users/end-users.ts'
import type { Db } from '../../storage/pool.ts'
import { textParam } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { EndUserResource, measureEndUsers, toEndUserResource } from './end-user-resource.ts'

export const listEndUsers = defineOperation('GET /v1/environments/{envId}/end-users', {
  name: 'end_users.list',
  summary: "An environment's end users with their usage to date.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject({
    ...pageQuery,
    q: textParam(255).optional().meta({ description: 'Those whose `external_id` begins with this text.' }),
    external_id: textParam(255).optional().meta({ description: 'The one with this `external_id`.' }),
    plan: textParam(64).optional().meta({ description: 'Those who have been given the plan of this name.' }),
    blocked: z.enum(['true', 'false']).optional(),
    order: z.enum(END_USER_ORDERS).optional().meta({
      description: 'By the time of their creation or by name. Default: `-created_at`, newest first.',
    }),
  }),
  response: { 200: listOf(EndUserResource) },
  handle: ({ services, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...sent } = query
    const filter = {
      beginning: query.q,
      externalId: query.external_id,
      plan: query.plan,
      order: query.order,
      isBlocked: query.blocked === undefined ? undefined : query.blocked === 'true',
    }
    return loadPage(
      query,
      ['end_users.list', resource.id, sent],
      async page => {
        const { after } = page
        if (query.order === 'external_id' && after !== undefined) await assertThere(services.db, after.id)
        return await measureEndUsers(services, await loadEndUsers(services.db, resource.id, page, filter))
      },
      toEndUserResource,
    )
  },
})

/** A list by name continues at the name of its last end user. */
async function assertThere(db: Db, id: string): Promise<void> {
  if ((await findEndUser(db, id)) !== undefined) return
  throw new Fault('invalid_request', 'The end user at which this page begins was removed: begin anew.', {
    param: 'cursor',
  })
}
