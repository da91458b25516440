import { sql } from 'kysely'
import type { Db } from '../pool.ts'
import { matches, type RequestLogFilter } from './request-log-filter.ts'

/** How many requests are counted at most: the newest. */
export const MAX_COUNTED = 20_000

export interface CountedBucket {
  /** Milliseconds since the epoch at which it begins. */
  readonly at: number
  readonly requests: number
  readonly errors: number
}

/**
 * The environment's requests that match, counted by the time of their arrival in buckets of `bucketMs`, which begin at
 * multiples of it. Buckets without requests are left out. `oldest`: the oldest counted one if there are more.
 */
export async function countLogs(
  db: Db,
  environmentId: string,
  filter: RequestLogFilter,
  bucketMs: number,
  most: number = MAX_COUNTED,
): Promise<{ buckets: CountedBucket[]; oldest: Date | undefined }> {
  const newest = db
    .selectFrom('request_logs')
    .select(['at', 'status'])
    .where('environment_id', '=', environmentId)
    .where(eb => matches(eb, filter))
    .orderBy('at', 'desc')
    .limit(most)
    .as('newest')
  const rows = await db
    .selectFrom(newest)
    .select([
      sql<number>`(floor(extract(epoch from newest.at) * 1000 / ${bucketMs}) * ${bucketMs})::float8`.as(
        'bucket',
      ),
      sql<number>`count(*)::int`.as('requests'),
      sql<number>`(count(*) filter (where newest.status >= 400))::int`.as('errors'),
      sql<Date>`min(newest.at)`.as('oldest'),
    ])
    .groupBy('bucket')
    .orderBy('bucket')
    .execute()
  const counted = rows.reduce((sum, { requests }) => sum + requests, 0)
  return {
    buckets: rows.map(({ bucket, requests, errors }) => ({ at: bucket, requests, errors })),
    oldest: counted >= most ? rows[0]?.oldest : undefined,
  }
}
