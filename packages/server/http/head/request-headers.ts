import { isUuid } from '../../core/ids.ts'

/** True if the `Content-Type` of a body is JSON or is missing. */
export function isJsonContentType(contentType: string | undefined): boolean {
  if (contentType === undefined) return true
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return (
    mediaType === 'application/json' || (mediaType.startsWith('application/') && mediaType.endsWith('+json'))
  )
}

/**
 * Returns the token of an `Authorization: Bearer` header; undefined if there is none, an empty one or another scheme.
 */
export function parseBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}

/** Returns the request id that the caller chose, if it is a UUID. */
export function parseRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && isUuid(header) ? header.toLowerCase() : undefined
}
