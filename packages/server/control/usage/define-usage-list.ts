import { listUsage, type UsageFilter } from '../../storage/usage.ts'
import { defineOperation, type Operation, type Services } from '../operation/operation.ts'
import { listOf, loadPageBy } from '../operation/pagination.ts'
import type { z } from '../operation/zod.ts'
import { readUsageQuery, UsageQuery } from './usage-query.ts'
import { toUsageResource, UsageResource } from './usage-resource.ts'

/** The column of the ledger that has the id of a resource below the organization. */
const COLUMN_OF = { org: undefined, project: 'project_id', environment: 'environment_id' } as const

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
    response: { 200: listOf(UsageResource) },
    handle: ({ services, resource, query }) => {
      const orgId = 'org_id' in resource ? resource.org_id : resource.id
      const below = column === undefined ? undefined : { column, id: resource.id }
      return loadUsage(services, query, name, orgId, below)
    },
  })
}

/** Returns a page of the usage of an organization or of anything below it. */
async function loadUsage(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  query: z.output<typeof UsageQuery>,
  operation: string,
  orgId: string,
  below?: UsageFilter['below'],
) {
  const { limit: _limit, cursor: _cursor, ...sent } = query
  const filter: UsageFilter = {
    orgId,
    ...(below === undefined ? {} : { below }),
    ...readUsageQuery(query, clock.now()),
  }
  return await loadPageBy(
    query,
    [operation, below?.id ?? orgId, sent],
    page => listUsage(db, filter, page),
    row => row.bucket,
    row => toUsageResource(row, below === undefined),
  )
}
