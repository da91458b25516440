import type { UpstreamError } from '@rideau/llm/upstream/upstream-error'

/**
 * What a failed call says about its target: nothing, that it may have failed because of the request, or that it failed
 * whatever the request was.
 */
export type FailureEvidence = 'none' | 'doubtful' | 'certain'

export interface FailedAttempt {
  readonly error: UpstreamError
  /** The request was written to a connection, so the provider may have read it. */
  readonly isSent: boolean
  /** How long the call took. */
  readonly ms: number
  /** The target's own timeout, which a request may shorten but not lengthen. */
  readonly timeoutMs: number
}

/** A connection that was not opened in this time says so about the target, however short the request's own timeout is. */
const CONNECT_TIMEOUT_MS = 5_000

/** A proxy before the provider sends these if nothing behind it answers. */
const UNREACHABLE: ReadonlySet<number> = new Set([502, 503])

/**
 * Returns how a failed call counts for its circuit. A refusal of the request, of the credential or of the content says
 * nothing about the target, and neither does a timeout that the request itself made shorter.
 */
export function failureEvidence({ error, isSent, ms, timeoutMs }: FailedAttempt): FailureEvidence {
  const { kind, status, retryAfterMs } = error
  switch (kind) {
    case 'unavailable':
      if (status === undefined) return isSent ? 'doubtful' : 'certain'
      return UNREACHABLE.has(status) ? 'certain' : 'doubtful'
    case 'overloaded':
      // Without a status, the caller's own share of connections was used up. With Retry-After the credential rests.
      return status === undefined || retryAfterMs !== undefined ? 'none' : 'certain'
    case 'timeout':
      if (status !== undefined) return 'doubtful'
      if (!isSent) return ms >= Math.min(timeoutMs, CONNECT_TIMEOUT_MS) ? 'certain' : 'none'
      return ms >= timeoutMs ? 'doubtful' : 'none'
    case 'interrupted':
      return 'doubtful'
    default:
      return 'none'
  }
}
