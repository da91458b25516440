import { RideauApiError, RideauConnectionError } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** The gateway forbids the retry of what must wait longer, and browsers cannot read the header that says so. */
const MAX_RETRY_AFTER_MS = 60_000

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** Callers that were told the same time do not come back in the same instant. */
const MAX_EXTRA_MS = 250

/**
 * Whether another attempt can help: after 408, 429, 5xx and connection failures. 402 and every other 4xx stay what they are,
 * and so does an answer that forbids it or asks for more than a minute of patience.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof RideauConnectionError) return true
  if (!(error instanceof RideauApiError) || error.isFinal) return false
  // The provider refuses the stored credential until it is changed.
  if (error.code === 'provider_auth_failed') return false
  if ((error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) return false
  return error.status === 408 || error.status === 429 || error.status >= 500
}

/** Returns how long to wait before the attempt after `retries` retries: never less than the answer asks for. */
export function toDelayMs(error: unknown, retries: number, random: Runtime['random']): number {
  if (error instanceof RideauApiError && error.retryAfterMs !== null) {
    return error.retryAfterMs + random() * MAX_EXTRA_MS
  }
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(retries, 10))
  return full * (0.5 + random() / 2)
}
