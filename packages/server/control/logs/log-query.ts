import { Fault } from '../../core/fault.ts'
import { LOGGED_ENDPOINTS } from '../../core/records/logged-endpoints.ts'
import { listKeyIds } from '../../storage/keys/keys.ts'
import type { Db } from '../../storage/pool.ts'
import type { RequestLogFilter, RequestLogValues } from '../../storage/records/request-log-filter.ts'
import {
  dateTimeField,
  integerParam,
  numberParam,
  textParam,
  toDate,
  uuidField,
} from '../operation/fields.ts'
import { MAX_USD, toNanoUsd } from '../operation/money.ts'
import { pageQuery } from '../operation/pagination.ts'
import { z } from '../operation/zod.ts'

/** The length of a provider, a slash and the longest name of a model. */
const MAX_MODEL = 544
const METADATA = /^metadata\.([^\0\p{Cs}]{1,512})$/u
const MAX_LATENCY_MS = 86_400_000
/** The most values of one parameter. */
const MAX_VALUES = 20
/** The first group of an id: as short as the dashboard shows one. */
const SHORTEST_ID = 8

/** A parameter that may stand several times. */
function repeated<Value extends z.ZodType>(value: Value) {
  return z.union([value, z.array(value).max(MAX_VALUES)]).optional()
}

/** A beginning of a UUID. */
const idPrefix = z
  .string()
  .regex(
    /^[0-9a-f]{8}(-([0-9a-f]{0,4}|[0-9a-f]{4}-([0-9a-f]{0,4}|[0-9a-f]{4}-([0-9a-f]{0,4}|[0-9a-f]{4}-[0-9a-f]{0,12}))))?$/i,
    `must be a UUID or at least its first ${SHORTEST_ID} characters`,
  )

const booleanParam = z
  .enum(['true', 'false'])
  .transform(text => text === 'true')
  .meta({ type: 'boolean', enum: undefined })

const VALUES = {
  status: repeated(z.union([integerParam(100, 599), z.enum(['1xx', '2xx', '3xx', '4xx', '5xx'])])).meta({
    description: 'A status, or all of a hundred: `4xx`.',
  }),
  error_code: repeated(textParam(64)),
  model: repeated(textParam(MAX_MODEL)).meta({
    description:
      'The model as requested, the `provider/model` that answered, or its name there without the provider.',
  }),
  provider: repeated(textParam(64)),
  key_id: repeated(uuidField),
  key_name: repeated(textParam(200)).meta({
    description:
      'The whole name of a key, also of revoked ones: a rolled key has the name of its predecessor. At most 1,000 keys may have it.',
  }),
  end_user_id: repeated(textParam(255)),
  endpoint: repeated(z.enum(LOGGED_ENDPOINTS)),
}

type ValueName = keyof typeof VALUES
type NegatedValues = { [Name in ValueName as `not.${Name}`]: (typeof VALUES)[Name] }
const NEGATED = Object.fromEntries(
  Object.entries(VALUES).map(([name, values]) => [
    `not.${name}`,
    values.meta({ description: `None of these; requests without a value of \`${name}\` match.` }),
  ]),
) as NegatedValues

const FILTERS = {
  ...VALUES,
  ...NEGATED,
  stream: booleanParam.optional().meta({ description: 'Whether the request asked for a stream.' }),
  sandbox: booleanParam.optional().meta({ description: 'Whether the sandbox provider served the request.' }),
  request_id: idPrefix.optional().meta({
    description: `What the \`X-Request-Id\` begins with: ${SHORTEST_ID} characters at least.`,
  }),
  from: dateTimeField.optional().meta({ description: 'Inclusive; the time when the request arrived.' }),
  to: dateTimeField.optional().meta({ description: 'Exclusive.' }),
  min_cost_usd: numberParam(MAX_USD).optional(),
  min_latency_ms: numberParam(MAX_LATENCY_MS).optional(),
}

/** Any number of `metadata.<k>` parameters is accepted; the request's metadata must match all of them. */
function withMetadata<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object(shape)
    .catchall(
      z
        .string()
        .max(4096, { abort: true })
        .regex(/^[^\0\p{Cs}]*$/u, 'must not contain control characters'),
    )
    .superRefine((query, context) => {
      const unknown = Object.keys(query).filter(name => !Object.hasOwn(shape, name) && !METADATA.test(name))
      if (unknown.length > 0) context.addIssue({ code: 'unrecognized_keys', keys: unknown, input: query })
    })
    .meta({ description: '`metadata.<k>`: a key and value of the request’s metadata.' })
}

export const LogFilterQuery = withMetadata(FILTERS)

export const LogQuery = withMetadata({
  ...pageQuery,
  ...FILTERS,
  after: uuidField.optional().meta({
    description:
      'Live tail: the `X-Request-Id` of a request. What was stored after it comes, first stored first; ask again with the last, and each request comes once. Those that were stored more than a week after they arrived are in the list only.',
  }),
})

type FilterQuery = z.output<typeof LogFilterQuery>

/** Returns the filter without `after` and the paging parameters. Looks up the names of keys. */
export async function loadLogFilter(
  db: Db,
  environmentId: string,
  query: FilterQuery,
): Promise<RequestLogFilter> {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const key = METADATA.exec(name)?.[1]
    return key === undefined ? [] : [[key, value as string] as const]
  })
  const named = await findNamed(db, environmentId, query, 'key_name')
  const notNamed = await findNamed(db, environmentId, query, 'not.key_name')
  const not = valuesOf(name => query[`not.${name}`])
  return {
    ...valuesOf(name => query[name]),
    ...(named === undefined ? {} : { keyId: both(query.key_id, named) }),
    not:
      notNamed === undefined ? not : { ...not, keyId: [...notNamed, ...toList(query['not.key_id'] ?? [])] },
    stream: query.stream,
    sandbox: query.sandbox,
    requestIds: query.request_id === undefined ? undefined : toIdRange(query.request_id),
    metadata: Object.fromEntries(pairs),
    from: toDate(query.from),
    to: toDate(query.to),
    minCostNanoUsd: query.min_cost_usd === undefined ? undefined : toNanoUsd(query.min_cost_usd),
    minLatencyMs: query.min_latency_ms,
  }
}

/** A statement takes 65,535 parameters, and an environment may have more keys of one name. */
const MAX_NAMED = 1_000

/** Returns the ids of the keys with one of the names; undefined without names. */
async function findNamed(
  db: Db,
  environmentId: string,
  query: FilterQuery,
  param: 'key_name' | 'not.key_name',
): Promise<string[] | undefined> {
  const names = query[param]
  if (names === undefined) return undefined
  const ids = await listKeyIds(db, environmentId, toList(names), MAX_NAMED + 1)
  if (ids.length <= MAX_NAMED) return ids
  const message = `More than ${MAX_NAMED.toLocaleString('en-US')} keys have such a name: use "${param.replace('name', 'id')}".`
  throw new Fault('request_validation_failed', message, { param })
}

function valuesOf(read: (name: ValueName) => unknown): RequestLogValues {
  return {
    status: read('status'),
    errorCode: read('error_code'),
    model: read('model'),
    provider: read('provider'),
    keyId: read('key_id'),
    endUserId: read('end_user_id'),
    endpoint: read('endpoint'),
  } as RequestLogValues
}

function toList<Value>(values: Value | Value[]): Value[] {
  return Array.isArray(values) ? values : [values]
}

/** The ids that the caller gave and that have one of the names. */
function both(given: string | string[] | undefined, named: readonly string[]): readonly string[] {
  if (given === undefined) return named
  const ids = new Set(toList(given).map(id => id.toLowerCase()))
  return named.filter(id => ids.has(id))
}

/** The lowest and the highest UUID that begin so. */
function toIdRange(prefix: string): [string, string] {
  const end = (filler: string): string =>
    prefix + '00000000-0000-0000-0000-000000000000'.slice(prefix.length).replaceAll('0', filler)
  return [end('0'), end('f')]
}
