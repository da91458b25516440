import { Fault } from '../../core/fault.ts'
import type { Db } from '../../storage/pool.ts'
import type { RequestLogFilter } from '../../storage/records/request-log-filter.ts'
import {
  findRequestLogPosition,
  type ListedRequestLogRow,
  listRequestLogs,
  tailRequestLogs,
} from '../../storage/records/request-log-list.ts'
import { defineOperation } from '../operation/operation.ts'
import { listOf, loadPageBy } from '../operation/pagination.ts'
import type { z } from '../operation/zod.ts'
import { LogCsvRow, MAX_CSV_ROWS, toLogCsvRow } from './log-csv-row.ts'
import { LogQuery, loadLogFilter } from './log-query.ts'
import { LogResource, toLogResource } from './log-resource.ts'

/** Records of the largest size then take 16 MB at most. */
const CSV_PAGE = 250

export const listLogs = defineOperation('GET /v1/environments/{envId}/logs', {
  name: 'logs.list',
  summary:
    "An environment's requests, newest first, without bodies. With `after`: the requests that were stored after that one, in that order.",
  access: { role: 'viewer', of: 'environment' },
  query: LogQuery,
  response: { 200: listOf(LogResource) },
  csvFile: {
    row: LogCsvRow,
    most: MAX_CSV_ROWS,
    page: async ({ services: { db }, resource, query }, after) => {
      assertWhole(query)
      const filter = await loadLogFilter(db, resource.id, query)
      const found = await listRequestLogs(db, resource.id, filter, { limit: CSV_PAGE + 1, after })
      const rows = found.slice(0, CSV_PAGE)
      const last = found.length > CSV_PAGE ? rows.at(-1) : undefined
      return { rows: rows.map(toLogCsvRow), next: last && { at: last.at, id: last.id } }
    },
  },
  handle: async ({ services: { db }, resource, query }) => {
    const { limit: _limit, cursor: _cursor, ...sent } = query
    const binding = ['logs.list', resource.id, sent]
    const filter = await loadLogFilter(db, resource.id, query)
    if (query.after !== undefined) {
      const load = await openTail(db, resource.id, filter, query.after)
      return await loadPageBy(query, binding, load, row => row.stored_at, toLogResource)
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
  const start = await findRequestLogPosition(db, environmentId, requestId)
  if (start === undefined) {
    throw new Fault('invalid_request', 'The log has no request with this id.', { param: 'after' })
  }
  return (page: Parameters<typeof listRequestLogs>[3]) =>
    tailRequestLogs(db, environmentId, filter, { limit: page.limit, after: page.after ?? start })
}

/** A file has every row, so it has no pages. */
function assertWhole(query: z.output<typeof LogQuery>): void {
  const param = (['limit', 'cursor', 'after'] as const).find(name => query[name] !== undefined)
  if (param === undefined) return
  throw new Fault('request_validation_failed', `As text/csv the log is one file, without "${param}".`, {
    param,
  })
}
