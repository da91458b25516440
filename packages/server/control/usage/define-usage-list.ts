import { Fault } from '../../core/fault.ts'
import { runSteps } from '../../http/fairness/sliced-work.ts'
import { findOrganization } from '../../storage/tenancy/organizations.ts'
import { listUsage, type UsageRow } from '../../storage/usage/usage.ts'
import type { UsageFilter } from '../../storage/usage/usage-filter.ts'
import { dateTime } from '../operation/fields.ts'
import { mapInSlices, toOwner } from '../operation/map-in-slices.ts'
import { defineOperation, type Operation, type Services } from '../operation/operation.ts'
import { orResourceNotFound } from '../operation/or-not-found.ts'
import { listOf, loadPageBy } from '../operation/pagination.ts'
import type { z } from '../operation/zod.ts'
import { parseTimeZone } from '../organizations/parse-time-zone.ts'
import { fillUsage } from './fill-usage.ts'
import { MAX_ROWS, readUsageQuery, UsageQuery } from './usage-query.ts'
import { toUsageResource, UsageResource } from './usage-resource.ts'

/** The column of the ledger that has the id of a resource below the organization. */
const COLUMN_OF = { org: undefined, project: 'project_id', environment: 'environment_id' } as const

const UsageList = listOf(UsageResource).extend({
  as_of: dateTime.meta({
    description: 'When the rows were read. Requests that ended in the seconds before it may be missing.',
  }),
})

/** Returns the operation that lists the usage of an organization, a project or an environment. */
export function defineUsageList(
  of: keyof typeof COLUMN_OF,
  path: string,
  { name, summary }: Pick<Operation, 'name' | 'summary'>,
): Operation {
  const column = COLUMN_OF[of]
  return defineOperation(`GET ${path}`, {
    name,
    summary,
    access: { role: 'viewer', of },
    query: UsageQuery,
    response: { 200: UsageList },
    csvRow: UsageResource,
    handle: ({ services, resource, query }) => {
      const orgId = 'org_id' in resource ? resource.org_id : resource.id
      const below = column === undefined ? undefined : { column, id: resource.id }
      return loadUsage(services, query, name, orgId, below)
    },
  })
}

/** Returns a page of the usage of an organization or of anything below it. */
async function loadUsage(
  services: Pick<Services, 'db' | 'clock' | 'spellTimeZone'>,
  query: z.output<typeof UsageQuery>,
  operation: string,
  orgId: string,
  below?: UsageFilter['below'],
) {
  const { db, clock } = services
  const { limit, rows = limit, cursor, ...sent } = query
  await parseTimeZone(services, query.time_zone, 'request_validation_failed')
  const { time_zone } = orResourceNotFound(await findOrganization(db, orgId))
  const now = clock.now()
  const filter: UsageFilter = {
    orgId,
    ...(below === undefined ? {} : { below }),
    ...readUsageQuery(query, now, time_zone),
  }
  const as_of = new Date(now).toISOString()
  const toResource = (row: UsageRow) => toUsageResource(row, below === undefined)
  if (query.fill !== undefined) {
    const rows = await loadFilled(db, filter, query)
    const data = await mapInSlices(rows, toResource, orgId)
    return { data, has_more: false, next_cursor: null, as_of }
  }
  const { data, ...page } = await loadPageBy(
    { limit: rows, cursor },
    [operation, below?.id ?? orgId, sent],
    page => listUsage(db, filter, page),
    row => row.bucket,
    row => row,
  )
  return { data: await mapInSlices(data, toResource, orgId), ...page, as_of }
}

async function loadFilled(db: Services['db'], filter: UsageFilter, query: z.output<typeof UsageQuery>) {
  if (query.cursor !== undefined) {
    throw new Fault('request_validation_failed', '"fill" answers one page, without a cursor.', {
      param: 'cursor',
    })
  }
  const rows = await listUsage(db, filter, { limit: MAX_ROWS + 1, after: undefined })
  const filled =
    rows.length > MAX_ROWS
      ? undefined
      : await runSteps(fillUsage(rows, filter, MAX_ROWS), toOwner(filter.orgId))
  if (filled === undefined) {
    throw new Fault(
      'request_validation_failed',
      `With "fill" there would be more than ${MAX_ROWS} rows: shorten the time, or use "top".`,
      { param: 'fill' },
    )
  }
  return filled
}
