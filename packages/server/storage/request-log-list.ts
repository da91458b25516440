import { type Selectable, sql } from 'kysely'
import { isAfter, type Page } from './page.ts'
import type { Db } from './pool.ts'
import type { RequestLogRow } from './schema.ts'

export type StoredLog = Selectable<RequestLogRow>
/** A list has no bodies: they are large, and not for every reader. */
export type ListedLog = Omit<StoredLog, 'request_body' | 'response_body'>

export interface LogFilter {
  readonly status?: number | undefined
  readonly errorCode?: string | undefined
  /** As asked for, as answered, or as `provider/model`. */
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly keyId?: string | undefined
  /** Inclusive. */
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

const LISTED = [
  'id',
  'at',
  'request_id',
  'org_id',
  'project_id',
  'environment_id',
  'key_id',
  'end_user_id',
  'endpoint',
  'surface',
  'model_requested',
  'provider',
  'model',
  'stream',
  'status',
  'error_code',
  'finish_reason',
  'queue_ms',
  'first_byte_ms',
  'total_ms',
  'uncached_input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'usage_estimated',
  'cost_nano_usd',
  'sandbox',
  'attempts',
  'metadata',
] as const

/** An environment's requests, newest first. */
export async function listRequestLogs(
  db: Db,
  environmentId: string,
  filter: LogFilter,
  page: Page,
): Promise<ListedLog[]> {
  const { status, errorCode, model, provider, keyId, from, to } = filter
  let query = db.selectFrom('request_logs').select(LISTED).where('environment_id', '=', environmentId)
  if (status !== undefined) query = query.where('status', '=', status)
  if (errorCode !== undefined) query = query.where('error_code', '=', errorCode)
  if (provider !== undefined) query = query.where('provider', '=', provider)
  if (keyId !== undefined) query = query.where('key_id', '=', keyId)
  if (from !== undefined) query = query.where('at', '>=', from)
  if (to !== undefined) query = query.where('at', '<', to)
  if (model !== undefined) {
    query = query.where(eb =>
      eb.or([
        eb('model_requested', '=', model),
        eb('model', '=', model),
        eb(sql<string>`provider || '/' || model`, '=', model),
      ]),
    )
  }
  return await query
    .where(eb => isAfter(eb, 'at', 'id', page))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute()
}

/**
 * By the X-Request-Id, in the given organizations only: a caller chooses that id, and so another tenant may have
 * used the same. undefined where there is none, or its project or organization was deleted.
 */
export async function findRequestLog(
  db: Db,
  requestId: string,
  orgIds: readonly string[],
): Promise<StoredLog | undefined> {
  return await db
    .selectFrom('request_logs')
    .innerJoin('projects', 'projects.id', 'request_logs.project_id')
    .innerJoin('organizations', 'organizations.id', 'request_logs.org_id')
    .selectAll('request_logs')
    .where('request_logs.request_id', '=', requestId)
    .where('request_logs.org_id', 'in', orgIds)
    .where('projects.deleted_at', 'is', null)
    .where('organizations.deleted_at', 'is', null)
    .orderBy('request_logs.at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Does the environment's log have a request of this X-Request-Id? */
export async function isRequestLogged(db: Db, environmentId: string, requestId: string): Promise<boolean> {
  const found = await db
    .selectFrom('request_logs')
    .select('id')
    .where('request_id', '=', requestId)
    .where('environment_id', '=', environmentId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
