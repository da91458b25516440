import type { UpstreamErrorKind } from '@rideau/llm/upstream/upstream-error'

/** The most attempts of one request at targets without `max_retries`, retries and fallbacks together. */
export const MAX_ATTEMPTS = 3
/** An alias may fall back three times: one more attempt, for a target that had none. */
export const MAX_TARGETS = 4
/**
 * The attempts with refused credentials that are not counted while the target has other credentials: dead credentials must
 * not use up the attempts before a living one.
 */
export const MAX_REFUSED_CREDENTIALS = 8
/** The most attempts of one request, whatever the `max_retries` of its targets add up to. */
export const MAX_ALL_ATTEMPTS = 24
/** No attempt of a request starts later than this after its first one. */
export const LAST_START_MS = 600_000

/**
 * The longest timeout of one attempt, which only a target of an alias can have: reasoning models may be silent for more than
 * ten minutes, and callers of the OpenAI, Anthropic and Gemini formats cannot ask for a timeout.
 */
export const MAX_ATTEMPT_MS = 3_600_000

/** What to do after a failed attempt: `other` is the next credential or target, `target` the next target. */
export type NextStep = 'same' | 'other' | 'target' | 'stop'

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
const MAX_WAIT_MS = 5_000
const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 1_000

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
  return (options.retryAfterMs ?? 0) > MAX_WAIT_MS ? 'stop' : 'same'
}

export interface OwnRetryOptions {
  /** Further attempts that the target's `max_retries` leaves. */
  readonly retriesLeft: number
  /** Another credential of this target is left. */
  readonly hasCredential: boolean
  /** Another target is left. */
  readonly hasTarget: boolean
  readonly retryAfterMs: number | undefined
  readonly shouldRetry?: boolean | undefined
}

/**
 * Returns the next step at a target with `max_retries`: all of them, with other credentials first, before the next
 * target. Unlike by default, a timeout is repeated too. What would fail again is not, and a wait of more than five seconds
 * is not waited for.
 */
export function nextStepWithin(kind: UpstreamErrorKind, options: OwnRetryOptions): NextStep {
  const { retriesLeft, hasCredential, hasTarget, retryAfterMs = 0, shouldRetry } = options
  const { same, other } = AFTER[kind]
  if (retriesLeft > 0) {
    if (other && hasCredential) return 'other'
    const mayRepeat = shouldRetry ?? (same || kind === 'timeout')
    if (mayRepeat && retryAfterMs <= MAX_WAIT_MS) return 'same'
  }
  return other && hasTarget ? 'target' : 'stop'
}

/** True if the failure is of the credential alone, so that another one of the same target is likely to succeed. */
export function isOfCredential(kind: UpstreamErrorKind): boolean {
  return kind === 'auth' || kind === 'quota'
}

/** True if another target or credential may succeed where this attempt failed. */
export function mayFallBack(kind: UpstreamErrorKind): boolean {
  return AFTER[kind].other
}

/** Returns the milliseconds before the next attempt at the same target. `share` is a random number in [0, 1). */
export function backoffMs(attempt: number, retryAfterMs: number | undefined, share: number): number {
  const longest = Math.min(FIRST_BACKOFF_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS)
  const backoff = longest * (0.5 + share / 2)
  return Math.max(retryAfterMs ?? 0, backoff)
}
