import { isUuid } from '../core/ids.ts'

/** What a body's `Content-Type` says it is. A missing one reads as JSON (contract.md §1). */
export function isJsonContentType(contentType: string | undefined): boolean {
  if (contentType === undefined) return true
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return (
    mediaType === 'application/json' || (mediaType.startsWith('application/') && mediaType.endsWith('+json'))
  )
}

/** The token of an `Authorization: Bearer` header; undefined where there is none, another scheme or an empty one. */
export function parseBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.length < 8) return undefined
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = authorization.slice(7).trim()
  return token === '' ? undefined : token
}

/** The caller's own request id, where it sent a UUID. */
export function parseRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && isUuid(header) ? header.toLowerCase() : undefined
}
