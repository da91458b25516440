import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../pool.ts'

export interface ErrorCountFilter {
  readonly environmentId: string
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  /** Counted apart. */
  readonly groups: readonly ('provider' | 'model')[]
}

export interface ErrorCount {
  readonly error_code: string
  readonly provider?: string | null
  readonly model?: string | null
  readonly requests: number
  readonly last_at: Date
  /** X-Request-Id of the latest. */
  readonly request_id: string
}

/** Bounds the time that the statement takes. */
export const MAX_FAILURES = 20_000
const MAX_GROUPS = 100

/**
 * Counts the newest failed requests of an environment by their error, most frequent first. Reads at most `most` by an index
 * of its own; `oldest` is the time of the last of them if there were more.
 */
export async function countErrors(
  db: Db,
  { environmentId, from, to, groups }: ErrorCountFilter,
  most: number = MAX_FAILURES,
): Promise<{ readonly rows: readonly ErrorCount[]; readonly oldest: Date | undefined }> {
  const columns = sql.join<RawBuilder<unknown>>([sql.ref('error_code'), ...groups.map(name => sql.ref(name))])
  const { rows } = await sql<ErrorCount & { read: number; oldest: Date }>`
    with failed as materialized (
      select at, id, request_id, error_code, provider, model from request_logs
      where environment_id = ${environmentId} and at >= ${from} and at < ${to} and error_code is not null
      order by at desc, id desc
      limit ${most}
    )
    select ${columns}, count(*) as requests, max(at) as last_at,
      (array_agg(request_id order by at desc, id desc))[1] as request_id,
      (select count(*) from failed) as read, (select min(at) from failed) as oldest
    from failed
    group by ${columns}
    order by count(*) desc, max(at) desc
    limit ${MAX_GROUPS}`.execute(db)
  const isCut = (rows[0]?.read ?? 0) >= most
  return { rows, oldest: isCut ? rows[0]?.oldest : undefined }
}
