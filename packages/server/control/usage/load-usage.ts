import { listUsage, type UsageFilter } from '../../storage/usage.ts'
import type { Services } from '../operation/operation.ts'
import { loadPageBy } from '../operation/pagination.ts'
import type { z } from '../operation/zod.ts'
import { readUsageQuery, type UsageQuery } from './usage-query.ts'
import { toUsageResource } from './usage-resource.ts'

/** Returns a page of the usage of an organization or of anything below it. */
export async function loadUsage(
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
