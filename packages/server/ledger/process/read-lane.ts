/** Runs reads in the order of their calls, a few at once. Lanes do not wait for each other. */
export class ReadLane {
  readonly #max: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Starts the read in a later microtask, so that callers of the same tick can share it. */
  async run<Result>(read: () => Promise<Result>): Promise<Result> {
    await Promise.resolve()
    if (this.#running < this.#max) this.#running++
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    try {
      return await read()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
