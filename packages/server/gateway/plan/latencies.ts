/** What a measurement is worth after so long: nothing. The target is then measured anew. Milliseconds. */
const FRESH_MS = 5 * 60_000
/** Weight of the newest measurement in the average. */
const NEWEST = 0.3
const MAX_ENTRIES = 10_000

interface Entry {
  /** A moving average; infinite after a failure. */
  ms: number
  /** Unix milliseconds. */
  at: number
}

/**
 * How long targets of aliases took to their first byte, in this process: what the strategy `lowest_latency` goes by.
 * A target whose measurement is old counts as never measured for one request, which measures it.
 */
export class Latencies {
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Milliseconds; undefined: not measured of late. */
  find(target: string): number | undefined {
    const entry = this.#entries.get(target)
    if (entry === undefined) return undefined
    const now = this.#now()
    if (now - entry.at <= FRESH_MS) return entry.ms
    // Only the request that asks now measures anew; the others go by what was known.
    entry.at = now
    return undefined
  }

  note(target: string, ms: number): void {
    const entry = this.#entries.get(target)
    const isFirst = entry === undefined || !Number.isFinite(entry.ms)
    if (entry === undefined && this.#entries.size >= MAX_ENTRIES) this.#dropOldest()
    this.#entries.set(target, {
      ms: isFirst ? ms : entry.ms + NEWEST * (ms - entry.ms),
      at: this.#now(),
    })
  }

  /** Fails fast is not fast: after a failure the target comes last until its measurement is old. */
  noteFailure(target: string): void {
    this.#entries.set(target, { ms: Number.POSITIVE_INFINITY, at: this.#now() })
  }

  #dropOldest(): void {
    const oldest = this.#entries.keys().next().value
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
