import { toObject, toText } from '../../../json/json-value.ts'
import type { UpstreamError, UpstreamErrorKind } from '../../../upstream/upstream-error.ts'
import { canHaveCause } from '../../shared/errors/classify-error.ts'
import {
  type DecodeErrorBody,
  decodeErrorBody as decodeByWords,
  parseErrorText,
} from '../../shared/errors/decode-error.ts'
import { MAX_WAIT_MS, type ReplyHeaders } from '../../shared/errors/retry-after.ts'

/**
 * The status that each error type stands for (Anthropic's page "Errors"). An error within a stream has it: its cause is that of a whole answer.
 */
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

/** Returns the causes that the general classification does not find; see docs/providers.md, "Anthropic". */
function findKind(type: string | undefined, message: string): UpstreamErrorKind | undefined {
  if (type === 'request_too_large') return 'context_length'
  if (type === 'timeout_error') return 'timeout'
  if (type === 'not_found_error' && message.startsWith('model:')) return 'model_not_found'
  return undefined
}

/** Classifies an answer that is not 2xx by its cause. `body`: as received. */
export function decodeError(status: number, headers: ReplyHeaders, body: string): UpstreamError {
  return decodeErrorBody(status, headers, parseErrorText(body))
}

/** Classifies a parsed body. `status` undefined: it is an event of a stream. */
export const decodeErrorBody: DecodeErrorBody = (status, headers, body) => {
  const error = toObject(toObject(body)?.error)
  const type = toText(error?.type)
  const knownStatus = status === undefined || status < 400 ? STATUSES.get(type ?? '') : status
  const decoded = decodeByWords(knownStatus, headers, body)
  const found = findKind(type, toText(error?.message) ?? '')
  const kind = found !== undefined && canHaveCause(knownStatus, found) ? found : decoded.kind
  const retryAfterMs = decoded.retryAfterMs ?? findReset(headers)
  return { ...decoded, kind, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

const LIMITS = ['requests', 'tokens', 'input-tokens', 'output-tokens']

/**
 * Returns the milliseconds until the used-up limit resets. The difference is taken from the answer's own date, because the
 * provider's clock may differ from the gateway's.
 */
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
