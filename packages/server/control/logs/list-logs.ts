import { Fault } from '../../core/fault.ts'
import type { Db } from '../../storage/pool.ts'
import {
  findRequestLogEnd,
  type ListedRequestLogRow,
  listRequestLogs,
  type RequestLogFilter,
  tailRequestLogs,
} from '../../storage/request-log-list.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPageBy } from '../operation/pagination.ts'
import { LogQuery, toLogFilter } from './log-query.ts'
import { LogResource, toLogResource } from './log-resource.ts'

export const listLogs = defineOperation('GET /v1/environments/{envId}/logs', {
  name: 'logs.list',
  summary:
    "An environment's requests, newest first, without bodies. With `after`: the requests that ended after that one, oldest first.",
  access: { role: 'viewer', of: 'environment' },
  query: LogQuery,
  response: { 200: listOf(LogResource) },
  handle: async ({ services: { db }, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...sent } = query
    const binding = ['logs.list', resource.id, sent]
    const filter = toLogFilter(query)
    if (query.after !== undefined) {
      const load = await openTail(db, resource.id, filter, query.after)
      return await loadPageBy(query, binding, load, row => row.ended_at, toLogResource)
    }
    return await loadPageBy<ListedRequestLogRow, ReturnType<typeof toLogResource>>(
      query,
      binding,
      page => listRequestLogs(db, resource.id, filter, page),
      row => row.at,
      toLogResource,
    )
  },
})

/** Returns a function that loads the requests after the named one or after a page. Throws 400 if the log does not have it. */
async function openTail(db: Db, environmentId: string, filter: RequestLogFilter, requestId: string) {
  const start = await findRequestLogEnd(db, environmentId, requestId)
  if (start === undefined) {
    throw new Fault('invalid_request', 'The log has no request with this id.', { param: 'after' })
  }
  return (page: Parameters<typeof listRequestLogs>[3]) =>
    tailRequestLogs(db, environmentId, filter, { limit: page.limit, after: page.after ?? start })
}
