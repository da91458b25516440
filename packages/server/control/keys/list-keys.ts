import { KEY_STATES, listKeys as loadKeys } from '../../storage/keys/keys.ts'
import { textParam } from '../operation/fields.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPage, pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'
import { KeyResource, toKeyResource } from './key-resource.ts'

export const listKeys = defineOperation('GET /v1/environments/{envId}/keys', {
  name: 'keys.list',
  summary: "An environment's keys, revoked and expired ones too, newest first.",
  access: { role: 'viewer', of: 'environment' },
  query: z.strictObject({
    ...pageQuery,
    q: textParam(100)
      .optional()
      .meta({ description: 'Those whose name begins with this text, in any case.' }),
    state: z.enum(KEY_STATES).optional().meta({ description: 'Default: all.' }),
  }),
  response: { 200: listOf(KeyResource) },
  handle: ({ services: { db, clock }, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...sent } = query
    const at = new Date(clock.now())
    const filter = {
      beginning: query.q,
      state: query.state === undefined ? undefined : { is: query.state, at },
    }
    return loadPage(
      query,
      ['keys.list', resource.id, sent],
      page => loadKeys(db, resource.id, page, filter),
      toKeyResource,
    )
  },
})
