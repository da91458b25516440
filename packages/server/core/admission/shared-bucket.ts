import type { BucketRate, TokenBucket } from './token-bucket.ts'

/** A bucket whose tokens several processes of one machine take. */
export interface SharedBucket extends TokenBucket {
  /** Tokens that were taken here and that the other processes do not know of. */
  unreported: number
}

/**
 * A process reports each 64th of a full bucket, and the others owe what it took (`debitTokens`). So each of the processes may exceed
 * what one bucket gives by that part, however long they take, and sends at most 64 messages for a full bucket.
 */
const REPORTED_PARTS = 64

/** Notes a token that was taken here. Returns how many to report now; 0: none. */
export function noteTaken(bucket: SharedBucket, { intervalMs, fullAfterMs }: BucketRate): number {
  bucket.unreported++
  const { unreported } = bucket
  if (unreported * REPORTED_PARTS * intervalMs < fullAfterMs) return 0
  bucket.unreported = 0
  return unreported
}
