export interface QueueBounds {
  /** How much may run at once. */
  readonly concurrency: number
  /** How many may wait, in all lines together. */
  readonly maxWaiting: number
}

interface Waiter {
  start(): void
  reject(error: Error): void
}

/**
 * Runs work with a bounded concurrency. What waits stands in a line for each party; the lines get their turns round robin.
 * Where all places are taken, the longest line gives its last one to a line that has at least two fewer, so that no party
 * keeps others out.
 */
export class FairQueue {
  readonly #bounds: QueueBounds
  readonly #toRefusal: () => Error
  /** The waiters by line, in the order of their turns. No line is empty. */
  readonly #lines = new Map<string, Waiter[]>()
  #running = 0
  #waiting = 0

  /** `toRefusal` makes the error of work that finds no place. */
  constructor(bounds: QueueBounds, toRefusal: () => Error) {
    this.#bounds = bounds
    this.#toRefusal = toRefusal
  }

  /** Returns what the work of a party resolves with. Rejects if it finds or keeps no place in line. */
  async run<Result>(party: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#bounds.concurrency) this.#running++
    else await this.#wait(party)
    try {
      return await work()
    } finally {
      this.#startNext()
    }
  }

  #wait(party: string): Promise<void> {
    if (this.#waiting >= this.#bounds.maxWaiting) this.#makePlace(party)
    return new Promise((start, reject) => {
      const line = this.#lines.get(party)
      if (line === undefined) this.#lines.set(party, [{ start, reject }])
      else line.push({ start, reject })
      this.#waiting++
    })
  }

  #makePlace(party: string): void {
    let longest: Waiter[] = []
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line
    if (longest.length < (this.#lines.get(party)?.length ?? 0) + 2) throw this.#toRefusal()
    this.#waiting--
    longest.pop()?.reject(this.#toRefusal())
  }

  /** Passes the place of finished work to the first of the next line, or frees it. */
  #startNext(): void {
    for (const [party, line] of this.#lines) {
      const next = line.shift()
      this.#lines.delete(party)
      if (line.length > 0) this.#lines.set(party, line)
      this.#waiting--
      next?.start()
      return
    }
    this.#running--
  }
}
