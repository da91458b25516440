/** A request that breaks the rules of its format. The gateway answers it with the fault of this code. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  /**
   * `request_validation_failed` where the form is broken, `invalid_request` where a field's value is, `request_too_large`
   * where there is more than the gateway reads.
   */
  readonly code: 'invalid_request' | 'request_validation_failed' | 'request_too_large'
  /** The field as a path (`messages[2].content`); undefined: the whole body. */
  readonly param: string | undefined

  /** `message` is shown to the caller; `cause` is not. */
  constructor(
    code: RequestError['code'],
    message: string,
    details: { readonly param?: string; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.param = details.param
  }
}
