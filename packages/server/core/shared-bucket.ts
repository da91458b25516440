import type { BucketRate, TokenBucket } from './token-bucket.ts'

/** A bucket whose tokens several processes of one machine take. */
export interface SharedBucket extends TokenBucket {
  /** Tokens that were taken here and that the other processes do not know of. */
  unreported: number
}

/**
 * A process reports each sixteenth of a full bucket. So each of the processes may exceed it by that part, and sends at most
 * sixteen messages for a full bucket.
 */
const REPORTED_PARTS = 16

/** Notes a token that was taken here. Returns how many to report now; 0: none. */
export function noteTaken(bucket: SharedBucket, { intervalMs, fullAfterMs }: BucketRate): number {
  bucket.unreported++
  const { unreported } = bucket
  if (unreported * REPORTED_PARTS * intervalMs < fullAfterMs) return 0
  bucket.unreported = 0
  return unreported
}

/** Takes tokens that another process has given out. */
export function takeReported(bucket: TokenBucket, rate: BucketRate, count: number, now: number): void {
  const { intervalMs, fullAfterMs } = rate
  bucket.fullAt = Math.min(Math.max(bucket.fullAt, now) + count * intervalMs, now + fullAfterMs)
}
