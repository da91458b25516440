/** A failed call, with the fields of the API's error envelope. `status` is 0 if there was no answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  /** The HTTP status, or 0 if there was no answer. */
  readonly status: number
  readonly param: string | undefined
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(
    code: string,
    message: string,
    details: {
      readonly status: number
      readonly param?: string | undefined
      readonly requestId?: string | undefined
      readonly retryAfterMs?: number | undefined
    },
  ) {
    super(message)
    this.code = code
    this.status = details.status
    this.param = details.param
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
  }
}

/** Returns any thrown value as an ApiError. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof TypeError) {
    return new ApiError('no_answer', 'The server could not be reached.', { status: 0 })
  }
  const message = thrown instanceof Error ? thrown.message : 'Something went wrong in this page.'
  return new ApiError('page_error', message, { status: 0 })
}

/** Returns whether a call failed because the session has ended, or because there was none. */
export function isSignedOut(thrown: unknown): boolean {
  return thrown instanceof ApiError && thrown.code === 'unauthenticated'
}

export function toEnvelopeError(body: unknown, response: Response): ApiError {
  const { error } = (isObject(body) ? body : {}) as { error?: unknown }
  const fields = isObject(error) ? error : {}
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
  const seconds = Number(response.headers.get('retry-after'))
  return new ApiError(
    text(fields.code) ?? 'unreadable_answer',
    text(fields.message) ?? `The server answered ${response.status} without an explanation.`,
    {
      status: response.status,
      param: text(fields.param),
      requestId: text(fields.request_id) ?? response.headers.get('x-request-id') ?? undefined,
      retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
    },
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
