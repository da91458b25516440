import type { Clock } from '../clock.ts'

export interface SlidingWindowOptions {
  /** Takes allowed per key in any span of `windowMs`. */
  readonly limit: number
  readonly windowMs: number
  /** The most keys. With more, the key with the oldest last take is forgotten. */
  readonly maxKeys: number
  readonly clock: Clock
}

/**
 * An exact rate limit per key over the last `windowMs`. Refused takes are not counted, so a caller that waits for the
 * returned time succeeds. Memory is bounded by the takes of one window.
 */
export class SlidingWindow {
  readonly #limit: number
  readonly #windowMs: number
  readonly #maxKeys: number
  readonly #clock: Clock
  /** Times of the allowed takes, oldest first. Keys are ordered by their last take. */
  readonly #times = new Map<string, number[]>()

  constructor(options: SlidingWindowOptions) {
    this.#limit = options.limit
    this.#windowMs = options.windowMs
    this.#maxKeys = options.maxKeys
    this.#clock = options.clock
  }

  /** Returns 0 and counts the take where the limit allows it; otherwise returns the milliseconds to wait. */
  take(key: string): number {
    const now = this.#clock.now()
    const past = now - this.#windowMs
    this.#removeExpiredKeys(past)
    const times = removeExpired(this.#times.get(key) ?? [], past)
    if (times.length >= this.#limit) return (times[0] as number) - past
    times.push(now)
    // Deleted and set again: the key moves to the end of the map.
    this.#times.delete(key)
    if (this.#times.size >= this.#maxKeys) this.#removeOldestKey()
    this.#times.set(key, times)
    return 0
  }

  /** Uncounts a take that was allowed at this time, if it still counts. */
  refund(key: string, takenAt: number): void {
    const times = this.#times.get(key)
    const index = times?.lastIndexOf(takenAt) ?? -1
    if (times === undefined || index < 0) return
    times.splice(index, 1)
    if (times.length === 0) this.#times.delete(key)
  }

  /** Keys are ordered by their last take, so the expired ones come first. */
  #removeExpiredKeys(past: number): void {
    for (const [key, times] of this.#times) {
      if ((times.at(-1) as number) > past) return
      this.#times.delete(key)
    }
  }

  #removeOldestKey(): void {
    const oldest = this.#times.keys().next().value
    if (oldest !== undefined) this.#times.delete(oldest)
  }
}

/** Changes `times` in place and returns it: a busy key copies nothing. */
function removeExpired(times: number[], past: number): number[] {
  const first = times.findIndex(time => time > past)
  times.splice(0, first < 0 ? times.length : first)
  return times
}
