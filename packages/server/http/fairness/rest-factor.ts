/** Rests are at least this multiple of the long work before them. */
const MIN = 2
/** The multiple while ticks are late: requests then wait for this process or for a processor. */
const MAX = 8
/** The delay after the end of a rest from which a tick is late, in milliseconds. On an idle machine a timer is late by one. */
const LATE_MS = 2
/** The time within which the multiple loses what a late tick added to it, in milliseconds. */
const DECAY_MS = 1_000

/** How long long work rests, as a multiple of the time that it took. It grows with late ticks and shrinks with time. */
export class RestFactor {
  /** The multiple at the last late tick. */
  #factor = MIN
  #lateAt = 0

  /** `now` here and below: by performance.now. */
  at(now: number): number {
    return Math.max(MIN, this.#factor - (now - this.#lateAt) / DECAY_MS)
  }

  /** Notes a tick that was due at `dueAt`, the end of a rest. */
  noteTick(dueAt: number, now: number): void {
    if (now - dueAt <= LATE_MS) return
    this.#factor = Math.min(MAX, this.at(now) + 1)
    this.#lateAt = now
  }
}
