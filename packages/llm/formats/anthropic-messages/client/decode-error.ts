import type { Json } from '../../../json/json-value.ts'
import { toObject, toText } from '../../../json/json-value.ts'
import type { UpstreamError, UpstreamErrorKind } from '../../../upstream/upstream-error.ts'
import { decodeErrorBody as decodeByWords } from '../../shared/decode-error.ts'
import { MAX_WAIT_MS, type ReplyHeaders } from '../../shared/retry-after.ts'

/** What each type stands for; a frame of a stream has no status of its own. */
const STATUSES: ReadonlyMap<string, number> = new Map(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
)

/** Causes that the words alone do not tell (wire facts §3.2, §3.3). */
function findKind(type: string | undefined, message: string): UpstreamErrorKind | undefined {
  if (type === 'request_too_large') return 'context_length'
  if (type === 'timeout_error') return 'timeout'
  if (type === 'not_found_error' && message.startsWith('model:')) return 'model_not_found'
  return undefined
}

/** An answer that is not 2xx, by its cause. `body` as received. */
export function decodeError(status: number, headers: ReplyHeaders, body: string): UpstreamError {
  let json: Json
  try {
    json = JSON.parse(body) as Json
  } catch {
    json = body.trim()
  }
  return decodeErrorBody(status, headers, json)
}

/** The same for a body that is parsed already; `status` undefined: it is a frame of a stream. */
export function decodeErrorBody(
  status: number | undefined,
  headers: ReplyHeaders,
  body: Json,
): UpstreamError {
  const error = toObject(toObject(body)?.error)
  const type = toText(error?.type)
  const told = status === undefined || status < 400 ? STATUSES.get(type ?? '') : status
  const decoded = decodeByWords(told, headers, body)
  const kind = findKind(type, toText(error?.message) ?? '') ?? decoded.kind
  const retryAfterMs = decoded.retryAfterMs ?? findReset(headers)
  return { ...decoded, kind, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

const LIMITS = ['requests', 'tokens', 'input-tokens', 'output-tokens']

/** The reset of the limit that is used up, a date that is taken against the answer's own: two clocks may differ. */
function findReset(headers: ReplyHeaders): number | undefined {
  const now = Date.parse(String(headers.date))
  if (Number.isNaN(now)) return undefined
  for (const limit of LIMITS) {
    if (headers[`anthropic-ratelimit-${limit}-remaining`] !== '0') continue
    const reset = Date.parse(String(headers[`anthropic-ratelimit-${limit}-reset`]))
    if (!Number.isNaN(reset)) return Math.min(Math.max(0, reset - now), MAX_WAIT_MS)
  }
  return undefined
}
