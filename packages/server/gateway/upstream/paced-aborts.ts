import { throwLater } from '../../core/on-exception.ts'

/** What ends one call's connection. */
type Abort = (reason: Error) => void

/** One for all calls: node:stream formats the stack of an error, which costs when hundreds of callers leave at once. */
export const ABORTED = new Error('the call was aborted')
/** The time for it in one tick of the event loop, in milliseconds. The last one may exceed it. */
const SLICE_MS = 2

/**
 * Ends connections of calls that are no longer wanted, as many as a slice of each tick allows. To close one takes a third of
 * a millisecond, and the callers of hundreds may leave in one tick.
 */
export class PacedAborts {
  #waiting: Abort[] = []
  #spentMs = 0
  #isScheduled = false

  /** Ends a connection at once if this tick still has time for it. */
  add(abort: Abort): void {
    if (this.#waiting.length > 0 || this.#spentMs >= SLICE_MS) this.#waiting.push(abort)
    else this.#run(abort)
    this.#schedule()
  }

  runSlice(): void {
    this.#isScheduled = false
    this.#spentMs = 0
    let ended = 0
    for (const abort of this.#waiting) {
      if (this.#spentMs >= SLICE_MS) break
      this.#run(abort)
      ended++
    }
    if (ended === 0) return
    this.#waiting = this.#waiting.slice(ended)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(runSliceOf, this)
  }

  #run(abort: Abort): void {
    const startedAt = performance.now()
    const { stackTraceLimit } = Error
    // undici makes an error for each socket that it closes, and node:stream formats its stack.
    Error.stackTraceLimit = 0
    try {
      abort(ABORTED)
    } catch (error) {
      throwLater(error, 'the end of a connection')
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
    this.#spentMs += performance.now() - startedAt
  }
}

function runSliceOf(aborts: PacedAborts): void {
  aborts.runSlice()
}
