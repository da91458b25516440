import type { Json } from '../../../json/json-value.ts'
import { toObject, toObjects, toText } from '../../../json/json-value.ts'
import type { UpstreamError } from '../../../upstream/upstream-error.ts'
import { canHaveCause } from '../../shared/errors/classify-error.ts'
import { decodeErrorBody as decodeAnyBody, parseErrorText } from '../../shared/errors/decode-error.ts'
import type { ReplyHeaders } from '../../shared/errors/retry-after.ts'

/** Reasons in an error's details that are about the key. The status of such an error can be any 4xx: a wrong key is a 400. */
const KEY_REASONS: ReadonlySet<string> = new Set([
  'API_KEY_INVALID',
  'API_KEY_EXPIRED',
  'API_KEY_SERVICE_BLOCKED',
  'API_KEY_HTTP_REFERRER_BLOCKED',
  'API_KEY_IP_ADDRESS_BLOCKED',
  'ACCESS_TOKEN_EXPIRED',
  'SERVICE_DISABLED',
  'BILLING_DISABLED',
])

/** The error of an answer that is not 2xx. `body`: as received. */
export function decodeError(status: number, headers: ReplyHeaders, body: string): UpstreamError {
  return decode(status, headers, parseErrorText(body))
}

/** The error of a frame of a stream, which has no status. */
export function decodeErrorBody(body: Json): UpstreamError {
  return decode(undefined, {}, body)
}

function decode(status: number | undefined, headers: ReplyHeaders, body: Json): UpstreamError {
  const error = decodeAnyBody(status, headers, body)
  const inner = toObject(toObject(Array.isArray(body) ? body[0] : body)?.error)
  if (inner?.status === 'DEADLINE_EXCEEDED') return { ...error, kind: 'timeout' }
  const isKey = toObjects(inner?.details).some(detail => KEY_REASONS.has(toText(detail.reason) ?? ''))
  return isKey && canHaveCause(error.status, 'auth') ? { ...error, kind: 'auth' } : error
}
