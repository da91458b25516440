import { type Selectable, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Feedback } from '../../core/records/request-record.ts'
import { isAfter, type Page } from '../page.ts'
import type { Db } from '../pool.ts'
import type { RequestLogTable } from '../schema.ts'
import { LOG_SUMMARY_COLUMNS } from './record-encoder.ts'
import { matches, type RequestLogFilter } from './request-log-filter.ts'
import { toStorableJson } from './storable.ts'
import { getStoredUntil } from './storing.ts'

export type RequestLogRow = Selectable<RequestLogTable>
/** A row of a list, without bodies: they are large, and not every reader may see them. */
export type ListedRequestLogRow = Omit<
  RequestLogRow,
  'request_body' | 'response_body' | 'ended_at' | 'stored_at' | 'dropped_params' | 'checked_limits'
>

const LISTED = [...LOG_SUMMARY_COLUMNS, 'feedback'] as const

/** No record has more since records are bounded; what was written before must not make a page huge. Bytes. */
const MAX_METADATA_BYTES = 64 * 1024
/** The size as stored is known without a look at the value, which is compressed. */
const METADATA = sql<
  RequestLogRow['metadata']
>`case when pg_column_size(metadata) <= ${sql.lit(MAX_METADATA_BYTES)}
  and octet_length(metadata::text) <= ${sql.lit(MAX_METADATA_BYTES)} then metadata end`.as('metadata')

/** An environment's requests, newest first by the time of their arrival. Returns no bodies. */
export async function listRequestLogs(
  db: Db,
  environmentId: string,
  filter: RequestLogFilter,
  page: Page,
): Promise<ListedRequestLogRow[]> {
  let query = db
    .selectFrom('request_logs')
    .select(LISTED)
    .select(METADATA)
    .where('environment_id', '=', environmentId)
  // The pair of time and id alone would not leave the partitions of later days aside.
  if (page.after !== undefined) query = query.where('at', '<=', page.after.at)
  return await query
    .where(eb => matches(eb, filter))
    .where(eb => isAfter(eb, 'at', 'id', page))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/**
 * The longest time from the arrival of a request to its storage, such as of one that waited in a journal. The tail reads no partition
 * before it. In milliseconds.
 */
const MAX_LATE_MS = 7 * 86_400_000

/**
 * An environment's requests that were stored after `page.after`, in that order, so a reader that continues at its last row gets each of
 * them once. Those beside a transaction that has not ended, and may have an earlier time, come in a later page.
 */
export async function tailRequestLogs(
  db: Db,
  environmentId: string,
  filter: RequestLogFilter,
  page: { readonly limit: number; readonly after: { readonly at: Date; readonly id: string } },
): Promise<(ListedRequestLogRow & { readonly stored_at: Date })[]> {
  const { at, id } = page.after
  const until = await getStoredUntil(db)
  return await db
    .selectFrom('request_logs')
    .select([...LISTED, 'stored_at'])
    .select(METADATA)
    .where('environment_id', '=', environmentId)
    // Leaves the partitions of earlier days alone.
    .where('at', '>', new Date(at.getTime() - MAX_LATE_MS))
    .where(eb => eb(eb.refTuple('stored_at', 'id'), '>', eb.tuple(at, id)))
    .where('stored_at', '<', until)
    .where(eb => matches(eb, filter))
    .orderBy('stored_at')
    .orderBy('id')
    .limit(page.limit)
    .$narrowType<{ stored_at: Date }>()
    .execute()
}

/** Where a tail continues that has read the latest request with this X-Request-Id. */
export async function findRequestLogPosition(
  db: Db,
  environmentId: string,
  requestId: string,
): Promise<{ at: Date; id: string } | undefined> {
  return await db
    .selectFrom('request_logs')
    // A row of an earlier version was stored soon after its request had ended.
    .select(['id', eb => eb.fn.coalesce('stored_at', 'ended_at').as('at')])
    .where('request_id', '=', requestId)
    .where('environment_id', '=', environmentId)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * The latest request with this X-Request-Id in the given organizations; undefined if there is none, or its project or
 * organization is deleted. Callers choose the id, so another tenant may use the same one. A function of the database keeps the plan.
 */
export async function findRequestLog(
  db: Db,
  requestId: string,
  orgIds: readonly string[],
): Promise<RequestLogRow | undefined> {
  const { rows } =
    await sql<RequestLogRow>`select * from find_request_log(${requestId}, ${orgIds}::uuid[])`.execute(db)
  return rows[0]
}

/**
 * Stores feedback with its request, in place of earlier feedback, and returns true; false if there is no such request.
 * With an `endUserId` only a request of that end user matches.
 */
export async function updateFeedback(
  db: Db,
  of: { readonly environmentId: string; readonly requestId: string; readonly endUserId: string | null },
  feedback: Feedback,
): Promise<boolean> {
  let update = db
    .updateTable('request_logs')
    .set({ feedback: toStorableJson(JSON.stringify(feedback)) })
    .where('request_id', '=', of.requestId)
    .where('environment_id', '=', of.environmentId)
  if (of.endUserId !== null) update = update.where('end_user_id', '=', of.endUserId)
  const { numUpdatedRows } = await update.executeTakeFirst()
  return numUpdatedRows > 0n
}

/** An X-Request-Id in an environment. */
export interface RequestName {
  readonly environmentId: string
  readonly requestId: string
}

/** Returns for each whether its environment's log has it. One statement for all of them: it looks into every day of the log. */
export async function areRequestsLogged(pool: Pool, names: readonly RequestName[]): Promise<boolean[]> {
  const { rows } = await pool.query<{ environment_id: string; request_id: string }>({
    name: 'find_logged_requests',
    text: 'select environment_id, request_id from request_logs where request_id = any($1::uuid[])',
    values: [names.map(({ requestId }) => requestId)],
  })
  const logged = new Set(rows.map(({ environment_id, request_id }) => `${environment_id} ${request_id}`))
  return names.map(({ environmentId, requestId }) =>
    logged.has(`${environmentId} ${requestId.toLowerCase()}`),
  )
}

/** True if the environment's log has a request that named this end user. */
export async function isEndUserLogged(db: Db, environmentId: string, externalId: string): Promise<boolean> {
  const found = await db
    .selectFrom('request_logs')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('end_user_id', '=', externalId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
