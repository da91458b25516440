/** Reads up to this size cost too little to wait for each other. */
const FREE_BYTES = 256 * 1024
/** How long the process rests after a read, as a multiple of the time that the read took. */
const REST_FACTOR = 2
const MAX_REST_MS = 1_000

interface QueuedRead {
  readonly start: () => Promise<void>
  readonly giveUp: () => void
  /** The deadline on the clock of performance.now(). */
  readonly deadline: number
}

/**
 * Reads large answers one after another with rests between them, since decoding and decrypting one holds the event loop for
 * milliseconds. Environments take turns, so that one that repeats its answers delays only its own.
 */
export class PacedReads {
  readonly #queues = new Map<string, QueuedRead[]>()
  #isBusy = false
  #timer: NodeJS.Timeout | undefined

  /** Rejects with the error of `onTimeout` if the read has not begun after `timeoutMs`. */
  run<Result>(
    environmentId: string,
    bytes: number,
    read: () => Promise<Result>,
    timeoutMs: number,
    onTimeout: () => Error,
  ): Promise<Result> {
    if (bytes <= FREE_BYTES) return read()
    return new Promise((resolve, reject) => {
      const waiting: QueuedRead = {
        start: () => read().then(resolve, reject),
        giveUp: () => reject(onTimeout()),
        deadline: performance.now() + timeoutMs,
      }
      const queue = this.#queues.get(environmentId)
      if (queue === undefined) this.#queues.set(environmentId, [waiting])
      else queue.push(waiting)
      this.#next()
    })
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #next(): void {
    if (this.#isBusy) return
    const waiting = this.#take()
    if (waiting === undefined) return
    this.#isBusy = true
    const startedAt = performance.now()
    void waiting.start().finally(() => {
      const restMs = Math.min(REST_FACTOR * (performance.now() - startedAt), MAX_REST_MS)
      this.#timer = setTimeout(() => {
        this.#isBusy = false
        this.#next()
      }, restMs)
    })
  }

  /** Returns the next one of the environment whose turn it is, and puts that environment last. */
  #take(): QueuedRead | undefined {
    for (const [environmentId, queue] of this.#queues) {
      this.#queues.delete(environmentId)
      const now = performance.now()
      while (queue[0] !== undefined && queue[0].deadline < now) queue.shift()?.giveUp()
      const first = queue.shift()
      if (queue.length > 0) this.#queues.set(environmentId, queue)
      if (first !== undefined) return first
    }
    return undefined
  }
}
