import type { Clock } from './chance.ts'

export interface SlidingWindowOptions {
  /** How many takes a key has in any span of `windowMs`. */
  readonly limit: number
  readonly windowMs: number
  /** Of more keys at once the one that was quiet for longest is forgotten. */
  readonly maxKeys: number
  readonly clock: Clock
}

/**
 * Counts per key over the last `windowMs`, exactly. What is refused does not count, so that who waits as long as it was
 * told gets through. It remembers no more than what was let through within one window.
 */
export class SlidingWindow {
  readonly #limit: number
  readonly #windowMs: number
  readonly #maxKeys: number
  readonly #clock: Clock
  /** Times let through, oldest first; keys in the order of their last one. */
  readonly #times = new Map<string, number[]>()

  constructor(options: SlidingWindowOptions) {
    this.#limit = options.limit
    this.#windowMs = options.windowMs
    this.#maxKeys = options.maxKeys
    this.#clock = options.clock
  }

  /** Milliseconds to wait; 0: let through and counted. */
  take(key: string): number {
    const now = this.#clock.now()
    const past = now - this.#windowMs
    this.#forget(past)
    const times = dropUntil(this.#times.get(key) ?? [], past)
    if (times.length >= this.#limit) return (times[0] as number) - past
    times.push(now)
    this.#times.delete(key)
    if (this.#times.size >= this.#maxKeys) this.#dropOldest()
    this.#times.set(key, times)
    return 0
  }

  /** Keys whose last take is past stand first, since a take moves its key to the end. */
  #forget(past: number): void {
    for (const [key, times] of this.#times) {
      if ((times.at(-1) as number) > past) return
      this.#times.delete(key)
    }
  }

  #dropOldest(): void {
    const oldest = this.#times.keys().next().value
    if (oldest !== undefined) this.#times.delete(oldest)
  }
}

/** In place, so that a busy key copies nothing but what ended. */
function dropUntil(times: number[], past: number): number[] {
  const first = times.findIndex(time => time > past)
  times.splice(0, first < 0 ? times.length : first)
  return times
}
