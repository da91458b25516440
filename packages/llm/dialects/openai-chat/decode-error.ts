import type { Json, JsonObject, UpstreamError } from '../../spec.ts'
import { classifyError } from './classify-error.ts'
import { toArray, toObject, toText } from '../../json-value.ts'
import { findRetryAfterMs, type ReplyHeaders } from './retry-after.ts'

/** Longest piece of a provider's words that goes to the log. */
const MAX_DETAIL = 500

/** What a provider said of an error, from whichever of its envelopes (wire facts §3.1). */
export interface ErrorWords {
  readonly message: string
  /** `code`, `type`, `status` and the like: everything that names the cause rather than describes it. */
  readonly names: readonly string[]
  /** A status that the body itself tells. */
  readonly status: number | undefined
  /** `retryDelay` of the body's details. */
  readonly retryDelay: string | undefined
}

/** An answer that is not 2xx, by its cause. `body` as received: JSON under any content type, HTML, text or nothing. */
export function decodeError(status: number, headers: ReplyHeaders, body: string): UpstreamError {
  let json: Json
  try {
    json = JSON.parse(body) as Json
  } catch {
    json = body.trim()
  }
  return decodeErrorBody(status, headers, json)
}

/** The same for a body that is parsed already: a frame of a stream has no status of its own. */
export function decodeErrorBody(
  status: number | undefined,
  headers: ReplyHeaders,
  body: Json,
): UpstreamError {
  const words = readWords(body)
  // A 200 that carries an error tells the true status in its body, if anywhere.
  const effective = status === undefined || status < 400 ? words.status : status
  const retryAfterMs = findRetryAfterMs(headers, words)
  const shouldRetry = headers['x-should-retry']
  return {
    kind: classifyError(effective, words),
    ...(effective === undefined ? {} : { status: effective }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(shouldRetry === 'true' || shouldRetry === 'false' ? { shouldRetry: shouldRetry === 'true' } : {}),
    detail: [...words.names, words.message]
      .filter(word => word !== '')
      .join(': ')
      .slice(0, MAX_DETAIL),
  }
}

function readWords(body: Json): ErrorWords {
  // Some wrap the envelope in an array.
  const outer = Array.isArray(body) ? body[0] : body
  if (typeof outer === 'string')
    return { message: outer, names: [], status: undefined, retryDelay: undefined }
  const envelope = toObject(outer) ?? {}
  const inner = toObject(envelope.error) ?? toObject(envelope.message) ?? envelope
  const message =
    toText(inner.message) ??
    toText(envelope.message) ??
    readDetail(inner.detail) ??
    readDetail(envelope.detail) ??
    toText(envelope.error) ??
    JSON.stringify(outer ?? '')
  const metadata = toObject(inner.metadata)
  const innerError = toObject(inner.innererror) ?? toObject(inner.inner_error)
  const names = [
    inner.code,
    inner.type,
    inner.status,
    inner.error_type,
    metadata?.error_type,
    innerError?.code,
    envelope.code,
    envelope.error_type,
    envelope.error,
  ]
  const extra = toText(metadata?.raw)
  return {
    message: extra === undefined ? message : `${message} ${extra}`,
    names: [...new Set(names.filter(name => typeof name === 'string' && name !== message))] as string[],
    status: [inner.code, inner.status, inner.status_code, envelope.code, envelope.status].find(isStatus),
    retryDelay: readRetryDelay(inner),
  }
}

function isStatus(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 400 && value < 600
}

/** A text, or a validator's list of `{ loc, msg }`. */
function readDetail(detail: Json | undefined): string | undefined {
  if (typeof detail === 'string') return toText(detail)
  return Array.isArray(detail) || toObject(detail) !== undefined ? JSON.stringify(detail) : undefined
}

function readRetryDelay(error: JsonObject): string | undefined {
  for (const item of toArray(error.details)) {
    const delay = toText(toObject(item)?.retryDelay)
    if (delay !== undefined) return delay
  }
  return undefined
}
