import type { Fault } from '../core/fault.ts'

/** What every failure looks like on both hosts (spec.md "Error envelope"; a superset of OpenAI's). */
export interface ErrorEnvelope {
  readonly error: {
    readonly type: string
    readonly code: string
    readonly message: string
    readonly param: string | null
    readonly request_id: string
    readonly doc_url: string
  }
}

export function toEnvelope(fault: Fault, requestId: string, baseUrl: string): ErrorEnvelope {
  return {
    error: {
      type: fault.type,
      code: fault.code,
      message: fault.message,
      param: fault.param ?? null,
      request_id: requestId,
      doc_url: `${baseUrl}/docs/errors#${fault.code}`,
    },
  }
}

/** A wait longer than this is told to the official clients as "do not retry by yourself" (contract.md §2). */
const LONGEST_RETRY_SECONDS = 60

/** The headers that a fault carries besides its envelope. */
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
