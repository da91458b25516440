import type { Clock } from '../../core/clock.ts'

/**
 * Runs work that serves all who asked for it before it began, and begins it at most once in `intervalMs`. Who asks meanwhile shares the
 * next run.
 */
export class PacedWork {
  readonly #work: () => Promise<void>
  readonly #intervalMs: number
  readonly #clock: Clock
  #next: Promise<void> | undefined
  #beganAt = Number.NEGATIVE_INFINITY

  constructor(work: () => Promise<void>, intervalMs: number, clock: Clock) {
    this.#work = work
    this.#intervalMs = intervalMs
    this.#clock = clock
  }

  /** Resolves when a run that began after this call has ended; rejects like it. */
  run(): Promise<void> {
    this.#next ??= this.#start()
    return this.#next
  }

  async #start(): Promise<void> {
    // After a clock was set back, no caller waits longer than one interval.
    const waitMs = Math.min(this.#beganAt + this.#intervalMs - this.#clock.now(), this.#intervalMs)
    if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs))
    else await Promise.resolve()
    this.#next = undefined
    this.#beganAt = this.#clock.now()
    await this.#work()
  }
}
