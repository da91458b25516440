import type { UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'

/** The most attempts of one request, retries and fallbacks together. */
export const MAX_ATTEMPTS = 3
/** An alias may fall back three times: one more attempt, for a target that had none. */
export const MAX_TARGETS = 4

/** What to do after a failed attempt. */
export type NextStep = 'same' | 'other' | 'stop'

const AFTER: Readonly<Record<UpstreamErrorKind, { readonly same: boolean; readonly other: boolean }>> = {
  rate_limited: { same: true, other: true },
  overloaded: { same: true, other: true },
  unavailable: { same: true, other: true },
  interrupted: { same: true, other: true },
  // The same target is not given a second timeout; another target may still answer.
  timeout: { same: false, other: true },
  quota: { same: false, other: true },
  auth: { same: false, other: true },
  model_not_found: { same: false, other: true },
  // The same body would fail again.
  context_length: { same: false, other: false },
  content_filter: { same: false, other: false },
  bad_request: { same: false, other: false },
}

/** The longest wait on behalf of a provider's Retry-After, in milliseconds. Longer waits are left to the caller. */
const LONGEST_WAIT_MS = 5_000
const FIRST_BACKOFF_MS = 250

export interface RetryOptions {
  /** Another credential or another target is left. */
  readonly hasOther: boolean
  /** What is next is another target, not another credential of the same. */
  readonly isNextTarget: boolean
  readonly retryAfterMs: number | undefined
  /** The provider's own word on retries (`x-should-retry`), which overrides the table above. */
  readonly shouldRetry?: boolean | undefined
  /** False for targets on which repeating is pointless (the sandbox). */
  readonly retries: boolean
}

/**
 * Returns the next step after attempt number `attempt` (from 1) failed. Another target is preferred to waiting.
 */
export function nextStep(kind: UpstreamErrorKind, attempt: number, options: RetryOptions): NextStep {
  const mayGoOn = attempt < MAX_ATTEMPTS ? options.hasOther : options.isNextTarget && attempt < MAX_TARGETS
  if (AFTER[kind].other && mayGoOn) return 'other'
  if (attempt >= MAX_ATTEMPTS) return 'stop'
  const mayRepeat = options.shouldRetry ?? AFTER[kind].same
  if (!mayRepeat || !options.retries) return 'stop'
  return (options.retryAfterMs ?? 0) > LONGEST_WAIT_MS ? 'stop' : 'same'
}

/** Returns the milliseconds before the next attempt at the same target. `share` is a random number in [0, 1). */
export function backoffMs(attempt: number, retryAfterMs: number | undefined, share: number): number {
  const backoff = FIRST_BACKOFF_MS * 2 ** (attempt - 1) * (0.5 + share / 2)
  return Math.max(retryAfterMs ?? 0, backoff)
}
