import { Fault } from '../../core/fault.ts'
import type { LimitRow } from '../../storage/policy-tables.ts'
import type { Db } from '../../storage/pool.ts'
import { type Owner, parseScopeRef, type StoredScope, scopeRefField } from '../operation/scope-ref.ts'
import { z } from '../operation/zod.ts'

export const LIMIT_SCOPES = ['org', 'project', 'environment', 'key', 'end_user', 'default_end_user'] as const
export const LIMIT_METRICS = ['requests', 'tokens', 'concurrency'] as const

/**
 * Where a limit can apply. An organization's limits: the organization or anything below it that has an id. An
 * environment's limits: the environment, its keys and its end users, which exist in one environment only.
 */
const SCOPES_OF = {
  organization: ['org', 'project', 'environment', 'key'],
  environment: ['environment', 'key', 'end_user', 'default_end_user'],
} as const

/** The window of a limit on requests or tokens that names none. */
const DEFAULT_WINDOW_SECONDS = 60
const MAX_WINDOW_SECONDS = 31 * 24 * 3600

const limitFields = {
  scope: z.enum(LIMIT_SCOPES),
  scope_ref: scopeRefField.nullish(),
  metric: z.enum(LIMIT_METRICS),
  limit: z.int().min(0),
  window_seconds: z
    .int()
    .min(1)
    .max(MAX_WINDOW_SECONDS)
    .nullish()
    .meta({ description: 'For requests and tokens, up to 31 days. Default: 60.' }),
}

export const NewLimit = z.strictObject(limitFields).meta({ id: 'NewLimit' })
export const LimitChange = z.strictObject(limitFields).partial().meta({ id: 'LimitChange' })
type LimitFields = z.output<typeof NewLimit>

/**
 * Checks what the schema cannot express: the owner allows the scope, scope_ref exists below the owner, and the metric
 * allows the window. Throws 400 `invalid_request`.
 */
export async function parseLimit(
  db: Db,
  owner: Owner,
  fields: LimitFields,
  stored?: StoredScope,
): Promise<Pick<LimitRow, 'scope' | 'scope_ref' | 'metric' | 'limit' | 'window_seconds'>> {
  const { scope, metric, limit } = fields
  const scopes: readonly string[] = SCOPES_OF[owner.environment_id === null ? 'organization' : 'environment']
  if (!scopes.includes(scope)) throw refusal('scope', `scope must be one of ${scopes.join(', ')}.`)
  const windowSeconds = fields.window_seconds ?? (metric === 'concurrency' ? null : DEFAULT_WINDOW_SECONDS)
  if (metric === 'concurrency' && windowSeconds !== null) {
    throw refusal('window_seconds', 'window_seconds must be absent for the metric concurrency.')
  }
  const scope_ref = await parseScopeRef(db, owner, scope, fields.scope_ref ?? null, stored)
  return { scope, scope_ref, metric, limit, window_seconds: windowSeconds }
}

function refusal(param: string, message: string): Fault {
  return new Fault('invalid_request', message, { param })
}
