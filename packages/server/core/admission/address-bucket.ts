import { BoundedTable, type TableEntry } from './bounded-table.ts'
import { noteTaken, type SharedBucket } from './shared-bucket.ts'
import { type BucketRate, debitTokens, returnToken, takeToken } from './token-bucket.ts'

/** The requests of one client address. */
export class AddressBucket implements TableEntry, SharedBucket {
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

/** Addresses that are counted at one time, in about 10 MB. */
const MAX_ADDRESSES = 50_000

/** A token bucket per client address. When all places are taken by busy addresses, further ones share one bucket. */
export class AddressBuckets {
  readonly #rate: BucketRate
  readonly #table: BoundedTable<AddressBucket>
  readonly #shared = new AddressBucket('')

  constructor(rate: BucketRate, maxAddresses: number = MAX_ADDRESSES) {
    this.#rate = rate
    this.#table = new BoundedTable(maxAddresses)
  }

  get size(): number {
    return this.#table.size
  }

  /** Counts a request. Returns 0, or without counting it the milliseconds to wait. */
  take(address: string, now: number): number {
    return takeToken(this.#open(address, now), this.#rate, now)
  }

  /** Notes a request that `take` has counted. Returns how many to report to other processes now. */
  noteTaken(address: string): number {
    const bucket = this.#table.get(address)
    return bucket === undefined ? 0 : noteTaken(bucket, this.#rate)
  }

  /** Counts requests that another process has reported. */
  takeReported(address: string, count: number, now: number): void {
    debitTokens(this.#open(address, now), this.#rate, count, now)
  }

  /** Takes back the count of a request that turned out to be harmless. */
  refund(address: string): void {
    const bucket = this.#table.get(address) ?? this.#shared
    returnToken(bucket, this.#rate)
    bucket.unreported--
  }

  #open(address: string, now: number): AddressBucket {
    const known = this.#table.get(address)
    if (known !== undefined) return known
    const bucket = new AddressBucket(address)
    return this.#table.add(bucket, now) ? bucket : this.#shared
  }
}
