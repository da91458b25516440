/** The longest that work may hold the event loop at once, in milliseconds. */
const MAX_MS = 1

/** Divides work that has no caller who waits for it, so that it does not delay those who do. */
export class ShortTicks {
  #startedAt = performance.now()

  /** True if the work has taken its time in this tick of the event loop: await `next` then. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt >= MAX_MS
  }

  /** Resolves in a later tick of the event loop, once what had arrived for other requests was handled. */
  async next(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    this.#startedAt = performance.now()
  }
}
