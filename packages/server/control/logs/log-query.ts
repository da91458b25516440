import type { RequestLogFilter } from '../../storage/request-log-list.ts'
import {
  dateTimeField,
  integerParam,
  numberParam,
  textField,
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

const FILTERS = {
  status: z
    .union([integerParam(100, 599), z.enum(['1xx', '2xx', '3xx', '4xx', '5xx'])])
    .optional()
    .meta({ description: 'One status, or all of a hundred: `4xx`.' }),
  error_code: textField(64).optional(),
  model: textField(MAX_MODEL)
    .optional()
    .meta({ description: 'The model of the request, the model of the response, or `provider/model`.' }),
  provider: textField(64).optional(),
  key_id: uuidField.optional(),
  end_user_id: textField(255).optional(),
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
        .max(4096)
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
      'Live tail: the `X-Request-Id` of a request. What ended after it comes, first ended first; ask again with the last.',
  }),
})

/** Returns the filter without `after` and the paging parameters. */
export function toLogFilter(
  query: z.output<typeof LogQuery> | z.output<typeof LogFilterQuery>,
): RequestLogFilter {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const key = METADATA.exec(name)?.[1]
    return key === undefined ? [] : [[key, value as string] as const]
  })
  return {
    ...toStatusFilter(query.status),
    errorCode: query.error_code,
    model: query.model,
    provider: query.provider,
    keyId: query.key_id,
    endUserId: query.end_user_id,
    metadata: Object.fromEntries(pairs),
    from: toDate(query.from),
    to: toDate(query.to),
    minCostNanoUsd: query.min_cost_usd === undefined ? undefined : toNanoUsd(query.min_cost_usd),
    minLatencyMs: query.min_latency_ms,
  }
}

function toStatusFilter(
  status: number | string | undefined,
): Pick<RequestLogFilter, 'status' | 'statusClass'> {
  return typeof status === 'string' ? { statusClass: Number(status[0]) } : { status }
}
