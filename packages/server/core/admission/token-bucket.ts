/** How fast a bucket fills, and how much it holds. */
export interface BucketRate {
  /** Milliseconds in which one token is added. */
  readonly intervalMs: number
  /** Milliseconds in which an empty bucket becomes full. */
  readonly fullAfterMs: number
}

/**
 * A token bucket in one number. The bucket is full from `fullAt` on, and each token taken moves `fullAt` by one interval,
 * so no timer refills it. Times are in milliseconds of any one clock; 0 is a full bucket.
 */
export interface TokenBucket {
  fullAt: number
}

/** Tolerance for the rounding of sums of intervals, in milliseconds. */
const ROUNDING_MS = 1e-6

/** Returns a rate of `perSecond` tokens, with a bucket that holds the tokens of `burstSeconds`, at least one. */
export function toBucketRate(perSecond: number, burstSeconds: number): BucketRate {
  const intervalMs = 1000 / perSecond
  return { intervalMs, fullAfterMs: Math.max(1, Math.floor(perSecond * burstSeconds)) * intervalMs }
}

/** How many full buckets may be owed at most; see `debitTokens`. */
const MAX_OWED = 1

/**
 * Takes a token. Returns 0, or without taking one the milliseconds until there is one. Times may be slightly out of order,
 * and after a clock was set back no caller waits longer than for an empty bucket.
 */
export function takeToken(bucket: TokenBucket, rate: BucketRate, now: number): number {
  const { intervalMs, fullAfterMs } = rate
  // No bucket owes as much: the clock was set back.
  if (bucket.fullAt > now + (MAX_OWED + 1) * fullAfterMs + ROUNDING_MS) bucket.fullAt = now + fullAfterMs
  const start = Math.max(bucket.fullAt, now)
  const waitMs = start + intervalMs - now - fullAfterMs
  if (waitMs > ROUNDING_MS) return waitMs
  bucket.fullAt = start + intervalMs
  return 0
}

/** Takes tokens that were given out elsewhere, also those that the bucket does not have: it owes them until it has filled. */
export function debitTokens(bucket: TokenBucket, rate: BucketRate, count: number, now: number): void {
  const { intervalMs, fullAfterMs } = rate
  const maxAt = now + (MAX_OWED + 1) * fullAfterMs
  bucket.fullAt = Math.min(Math.max(bucket.fullAt, now) + count * intervalMs, maxAt)
}

/** Puts a token back. */
export function returnToken(bucket: TokenBucket, rate: BucketRate): void {
  bucket.fullAt -= rate.intervalMs
}
