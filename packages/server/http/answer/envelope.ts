import type { Fault } from '../../core/fault.ts'

/** With a longer Retry-After, `x-should-retry: false` stops the official clients from retrying automatically. */
const MAX_RETRY_SECONDS = 60

/** False if the same call fails again however soon it is repeated: some clients also retry 401 and 409 by themselves. */
function mayHelpToRetry({ status, code, retryAfterSeconds = 0 }: Fault): boolean {
  if (code === 'provider_auth_failed') return false
  if (status === 429 || status === 503) return retryAfterSeconds <= MAX_RETRY_SECONDS
  return status >= 500 || status === 408
}

/** Returns the headers that a fault adds to its response. No cache may keep it: without `no-store` it may keep a 404. */
export function faultHeaders(fault: Fault): Record<string, string> {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' }
  if (fault.retryAfterSeconds !== undefined) headers['Retry-After'] = String(fault.retryAfterSeconds)
  if (!mayHelpToRetry(fault)) headers['x-should-retry'] = 'false'
  if (fault.status === 401) headers['WWW-Authenticate'] = 'Bearer'
  return headers
}
