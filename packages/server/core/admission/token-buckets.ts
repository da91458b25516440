import { BoundedTable, type TableEntry } from './bounded-table.ts'
import { noteTaken, type SharedBucket } from './shared-bucket.ts'
import { type BucketRate, debitTokens, returnToken, takeToken } from './token-bucket.ts'

/** The tokens of one key. */
class KeyedBucket implements TableEntry, SharedBucket {
  readonly key: string
  fullAt = 0
  unreported = 0

  constructor(key: string) {
    this.key = key
  }

  isIdle(now: number): boolean {
    return this.fullAt <= now
  }

  onEvicted(): void {}
}

/** Keys that are counted at one time, in about 10 MB. */
const MAX_KEYS = 50_000

/** A token bucket per key, such as a client address. When all places are taken by busy keys, further ones share one bucket. */
export class TokenBuckets {
  readonly #rate: BucketRate
  readonly #table: BoundedTable<KeyedBucket>
  readonly #shared = new KeyedBucket('')

  constructor(rate: BucketRate, maxKeys: number = MAX_KEYS) {
    this.#rate = rate
    this.#table = new BoundedTable(maxKeys)
  }

  get size(): number {
    return this.#table.size
  }

  /** Counts a request. Returns 0, or without counting it the milliseconds to wait. */
  take(key: string, now: number): number {
    return takeToken(this.#open(key, now), this.#rate, now)
  }

  /** Notes a request that `take` has counted. Returns how many to report to other processes now. */
  noteTaken(key: string): number {
    const bucket = this.#table.find(key)
    return bucket === undefined ? 0 : noteTaken(bucket, this.#rate)
  }

  /** Counts requests that another process has reported. */
  takeReported(key: string, count: number, now: number): void {
    debitTokens(this.#open(key, now), this.#rate, count, now)
  }

  /** Takes back the count of a request that turned out to be harmless. */
  refund(key: string): void {
    const bucket = this.#table.find(key) ?? this.#shared
    returnToken(bucket, this.#rate)
    bucket.unreported--
  }

  #open(key: string, now: number): KeyedBucket {
    const known = this.#table.find(key)
    if (known !== undefined) return known
    const bucket = new KeyedBucket(key)
    return this.#table.add(bucket, now) ? bucket : this.#shared
  }
}
