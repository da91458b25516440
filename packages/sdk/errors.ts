import { ERROR_STATUSES, type ErrorCode } from './generated/error-codes.ts'

/** Every error of this library, except that an aborted call rejects with the signal's own reason. */
export class RideauError extends Error {
  override name = 'RideauError'
}

/** No whole answer arrived: no connection, a connection that broke, or a stream without its end. */
export class RideauConnectionError extends RideauError {
  override name = 'RideauConnectionError'
}

/** The answer took longer than `timeoutMs`, or a stream was silent for `idleTimeoutMs`. */
export class RideauTimeoutError extends RideauConnectionError {
  override name = 'RideauTimeoutError'
}

/** The app's own function failed to give a token, or gave none. `cause` is its error. */
export class RideauTokenError extends RideauError {
  override name = 'RideauTokenError'
}

/** The codes of this version, and further ones: a later gateway may add some. */
// An intersection with {} keeps the known codes in the editor's completion.
export type AnyErrorCode = ErrorCode | 'unexpected_response' | (string & {})

interface ApiErrorFields {
  readonly code: AnyErrorCode
  readonly status: number
  readonly type: string | null
  readonly param: string | null
  readonly requestId: string | null
  readonly docUrl: string | null
  readonly providerMessage: string | null
  readonly retryAfterMs: number | null
  readonly isFinal: boolean
}

/** The gateway or the control plane answered with an error. Branch on `code`. */
export class RideauApiError extends RideauError {
  override name = 'RideauApiError'
  /** `unexpected_response` where the answer is no error of Rideau's, such as a proxy's page. */
  readonly code: AnyErrorCode
  /** The HTTP status. For an error inside a stream: the status of its code. */
  readonly status: number
  /** The family of the error, such as `rate_limit_error`. */
  readonly type: string | null
  /** The field of the request that is at fault. */
  readonly param: string | null
  /** Name it when you ask about the error. */
  readonly requestId: string | null
  readonly docUrl: string | null
  /** What the provider said, for secret keys only. */
  readonly providerMessage: string | null
  /** How long to wait before the next call, where the answer says so. */
  readonly retryAfterMs: number | null
  /** The answer forbids another attempt (`x-should-retry: false`). */
  readonly isFinal: boolean

  constructor(message: string, fields: ApiErrorFields) {
    super(message)
    this.code = fields.code
    this.status = fields.status
    this.type = fields.type
    this.param = fields.param
    this.requestId = fields.requestId
    this.docUrl = fields.docUrl
    this.providerMessage = fields.providerMessage
    this.retryAfterMs = fields.retryAfterMs
    this.isFinal = fields.isFinal
  }
}

/** Returns true if `error` is an answer with one of these codes; without codes, any answer with an error. */
export function isRideauError(error: unknown, ...codes: readonly AnyErrorCode[]): error is RideauApiError {
  return error instanceof RideauApiError && (codes.length === 0 || codes.includes(error.code))
}

const STATUSES: ReadonlyMap<string, number> = new Map(Object.entries(ERROR_STATUSES))

/** Returns the error that a response stands for. Reads its body; rejects where the connection breaks meanwhile. */
export async function readApiError(response: Response): Promise<RideauApiError> {
  const { headers, status } = response
  return toApiError(parseJson(await response.text()), status, {
    requestId: headers.get('x-request-id'),
    retryAfterMs: parseRetryAfter(headers.get('retry-after'), headers.get('date'), Date.now()),
    isFinal: headers.get('x-should-retry') === 'false',
  })
}

/** Returns the error of a stream's `event: error`. */
export function toStreamError(data: string, requestId: string | null): RideauApiError {
  const body = parseJson(data)
  const status = STATUSES.get(String(toRecord(toRecord(body).error).code)) ?? 502
  return toApiError(body, status, { requestId, retryAfterMs: null, isFinal: false })
}

function toApiError(
  body: unknown,
  status: number,
  known: { requestId: string | null; retryAfterMs: number | null; isFinal: boolean },
): RideauApiError {
  const error = toRecord(toRecord(body).error)
  const code = toText(error.code) ?? 'unexpected_response'
  return new RideauApiError(toText(error.message) ?? `The answer has the status ${status} and no error.`, {
    code,
    status,
    type: toText(error.type),
    param: toText(error.param),
    requestId: toText(error.request_id) ?? known.requestId,
    docUrl: toText(error.doc_url),
    providerMessage: toText(error.provider_message),
    retryAfterMs: known.retryAfterMs,
    isFinal: known.isFinal,
  })
}

/**
 * Returns the milliseconds to wait that a `Retry-After` header asks for, or null where it is absent or wrong. A date is
 * compared with the server's own `Date` where that is readable, because the device's clock may be wrong.
 */
export function parseRetryAfter(value: string | null, date: string | null, nowMs: number): number | null {
  if (value === null) return null
  const text = value.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // Date.parse accepts far more than an HTTP date, such as "1.5".
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null
  const at = Date.parse(text)
  if (Number.isNaN(at)) return null
  const sentAt = date === null ? Number.NaN : Date.parse(date)
  return Math.max(0, at - (Number.isNaN(sentAt) ? nowMs : sentAt))
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns an object's fields; of anything else none. */
export function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
