import { PROVIDERS } from '@rideau/llm/providers/index'
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../schema.ts'

const PROVIDER_IDS = PROVIDERS.map(({ id }) => id)

type OneOrMore<Value> = Value | readonly Value[]
/** `4xx`: every status from 400 to 499. */
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx'

/** What fields of a record are compared with: one of the values must be the field's. */
export interface RequestLogValues {
  readonly status?: OneOrMore<number | StatusClass> | undefined
  readonly errorCode?: OneOrMore<string> | undefined
  /** The requested name, `provider/model`, or the model's name at a provider whose credentials have no name of their own. */
  readonly model?: OneOrMore<string> | undefined
  readonly provider?: OneOrMore<string> | undefined
  readonly keyId?: OneOrMore<string> | undefined
  readonly endUserId?: OneOrMore<string> | undefined
  readonly endpoint?: OneOrMore<string> | undefined
}

export interface RequestLogFilter extends RequestLogValues {
  /** None of these may match. A field without a value differs from each. */
  readonly not?: RequestLogValues | undefined
  readonly stream?: boolean | undefined
  readonly sandbox?: boolean | undefined
  /** The lowest and the highest X-Request-Id. */
  readonly requestIds?: readonly [string, string] | undefined
  /** Every pair must match. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Inclusive. */
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
  readonly minCostNanoUsd?: number | undefined
  readonly minLatencyMs?: number | undefined
}

type Builder = ExpressionBuilder<Database, 'request_logs'>
type Condition = Expression<SqlBool>

/** The condition that a row of the log fulfils the filter. */
export function matches(eb: Builder, filter: RequestLogFilter): Condition {
  const { from, to, stream, sandbox, requestIds, metadata = {}, minCostNanoUsd, minLatencyMs } = filter
  const conditions: Condition[] = [
    ...matchValues(eb, filter),
    // Comparisons with null are unknown: the field has no value, so it differs.
    ...matchValues(eb, filter.not ?? {}).map(condition => sql<SqlBool>`(${condition}) is not true`),
    ...Object.entries(metadata).map(([name, value]) => eb(sql`metadata ->> ${name}`, '=', value)),
  ]
  // No index covers the pairs, but one covers the rows that have metadata.
  if (Object.keys(metadata).length > 0) conditions.push(eb('metadata', 'is not', null))
  if (stream !== undefined) conditions.push(eb('stream', '=', stream))
  // Spelled out, so that the partial index on the sandbox's requests fits.
  if (sandbox !== undefined) conditions.push(sandbox ? sql<SqlBool>`sandbox` : sql<SqlBool>`not sandbox`)
  if (requestIds !== undefined) {
    conditions.push(eb('request_id', '>=', requestIds[0]), eb('request_id', '<=', requestIds[1]))
  }
  if (from !== undefined) conditions.push(eb('at', '>=', from))
  if (to !== undefined) conditions.push(eb('at', '<', to))
  if (minCostNanoUsd !== undefined) conditions.push(eb('cost_nano_usd', '>=', minCostNanoUsd))
  if (minLatencyMs !== undefined) conditions.push(eb('total_ms', '>=', minLatencyMs))
  return eb.and(conditions)
}

/** A condition for each field that has values. */
function matchValues(eb: Builder, values: RequestLogValues): Condition[] {
  const { status, errorCode, model, provider, keyId, endUserId, endpoint } = values
  const conditions: Condition[] = []
  if (status !== undefined) conditions.push(isOfStatus(eb, toList(status)))
  if (errorCode !== undefined) conditions.push(isOneOf(eb, 'error_code', errorCode))
  if (provider !== undefined) conditions.push(isOneOf(eb, 'provider', provider))
  if (keyId !== undefined) conditions.push(isOneOf(eb, 'key_id', keyId))
  if (endUserId !== undefined) conditions.push(isOneOf(eb, 'end_user_id', endUserId))
  if (endpoint !== undefined) conditions.push(isOfEndpoint(eb, toList(endpoint)))
  if (model !== undefined) conditions.push(eb.or(toList(model).map(name => isOfModel(eb, name))))
  return conditions
}

function toList<Value>(values: OneOrMore<Value>): readonly Value[] {
  return Array.isArray(values) ? values : [values as Value]
}

type TextColumn = 'model' | 'error_code' | 'provider' | 'key_id' | 'end_user_id' | 'endpoint'

/** One value is compared by itself: its index then gives the rows in the list's order. No value matches nothing. */
function isOneOf(eb: Builder, column: TextColumn, values: OneOrMore<string>): Condition {
  const [first, ...others] = toList(values)
  if (first === undefined) return sql<SqlBool>`false`
  return others.length === 0 ? eb(column, '=', first) : eb(column, 'in', [first, ...others])
}

/**
 * The statuses are written into the statement: the planner then knows by itself that failures are in the partial indexes. A
 * condition that says so besides made it expect a fiftieth of them, and so sort all of them for one page.
 */
function isOfStatus(eb: Builder, statuses: readonly (number | StatusClass)[]): Condition {
  return eb.or(
    statuses.map(status => {
      if (typeof status === 'number') return eb('status', '=', sql.lit(status))
      const first = Number(status[0]) * 100
      return eb.and([eb('status', '>=', sql.lit(first)), eb('status', '<', sql.lit(first + 100))])
    }),
  )
}

function isOfEndpoint(eb: Builder, endpoints: readonly string[]): Condition {
  const any = isOneOf(eb, 'endpoint', endpoints)
  // Lets the planner use the partial index on all but chats, which are most requests.
  return endpoints.includes('chat') ? any : eb.and([any, sql<SqlBool>`endpoint <> 'chat'`])
}

/** A list of names instead of a concatenation, so that the index on the model is used. */
function isOfModel(eb: Builder, name: string): Condition {
  const isWhole = PROVIDER_IDS.some(id => name.startsWith(`${id}/`))
  const names = isWhole ? [name] : [name, ...PROVIDER_IDS.map(id => `${id}/${name}`)]
  return eb.or([eb('model_requested', '=', name), isOneOf(eb, 'model', names)])
}
