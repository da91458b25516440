import type { Fault } from '../core/fault.ts'

/** With a longer Retry-After, `x-should-retry: false` stops the official clients from retrying automatically. */
const LONGEST_RETRY_SECONDS = 60

/** Returns the headers that a fault adds to its response. */
export function faultHeaders(fault: Fault): Record<string, string> {
  const headers: Record<string, string> = {}
  if (fault.retryAfterSeconds !== undefined) headers['Retry-After'] = String(fault.retryAfterSeconds)
  const waitsTooLong =
    (fault.status === 429 || fault.status === 503) && (fault.retryAfterSeconds ?? 0) > LONGEST_RETRY_SECONDS
  if (fault.status === 409 || fault.code === 'provider_auth_failed' || waitsTooLong)
    headers['x-should-retry'] = 'false'
  if (fault.status === 401) headers['WWW-Authenticate'] = 'Bearer'
  return headers
}
