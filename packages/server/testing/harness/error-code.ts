interface AnyError {
  readonly code?: unknown
  readonly error?: {
    readonly code?: unknown
    readonly details?: readonly { readonly reason?: string }[]
  }
}

/** Returns the app's error code in an error of any format; undefined if there is none. */
export function findErrorCode(body: unknown): string | undefined {
  const { error, code } = body as AnyError
  const reasons = error?.details?.map(({ reason }) => reason) ?? []
  return [error?.code, code, ...reasons].find(each => typeof each === 'string')
}
