import { FairCache } from '../../core/admission/fair-cache.ts'

/** Age in milliseconds after which a measurement is repeated. */
const FRESH_MS = 5 * 60_000
/** Weight of the newest measurement in the average. */
const NEWEST = 0.3
const MAX_ENTRIES = 10_000

interface Entry {
  /** A moving average in milliseconds. Infinite after a failure. */
  ms: number
  /** Unix milliseconds. */
  at: number
}

/**
 * Latencies of alias targets until their first byte, as measured by this process. The strategy `lowest_latency` orders
 * targets by them. A target whose measurement is old counts as unmeasured for one request, which measures it again.
 */
export class Latencies {
  readonly #now: () => number
  readonly #entries = new FairCache<Entry>(MAX_ENTRIES)

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Returns milliseconds, or undefined without a recent measurement. If the measurement is old, the call claims the next one for its
   * request.
   */
  readOrClaim(target: string): number | undefined {
    const entry = this.#entries.find(target)
    if (entry === undefined) return undefined
    const now = this.#now()
    if (now - entry.at <= FRESH_MS) return entry.ms
    // Only this request measures the target again; concurrent ones read the old value.
    entry.at = now
    return undefined
  }

  note(orgId: string, target: string, ms: number): void {
    const entry = this.#entries.find(target)
    const isFirst = entry === undefined || !Number.isFinite(entry.ms)
    this.#set(orgId, target, isFirst ? ms : entry.ms + NEWEST * (ms - entry.ms))
  }

  /** Puts a target last until its measurement is old. A fast failure must not count as a low latency. */
  noteFailure(orgId: string, target: string): void {
    this.#set(orgId, target, Number.POSITIVE_INFINITY)
  }

  #set(orgId: string, target: string, ms: number): void {
    this.#entries.set(orgId, target, { ms, at: this.#now() })
  }
}
