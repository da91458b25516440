import { RideauConnectionError, RideauError, RideauTimeoutError } from './errors.ts'
import { toAbortReason } from './runtime.ts'

/** Ends one attempt: by the caller's signal, by a time-out, or because its answer is no longer wanted. */
export class AttemptScope {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal | undefined
  readonly #onAbort = (): void => this.#controller.abort()
  #timer: ReturnType<typeof setTimeout> | undefined
  #timedOut: string | undefined

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer
    if (outer?.aborted === true) this.#controller.abort()
    else outer?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Starts the time-out anew. `what` was awaited: it stands in the error's message. 0 means no time-out. */
  startTimer(timeoutMs: number, what: string): void {
    this.stopTimer()
    if (timeoutMs <= 0) return
    this.#timer = setTimeout(() => {
      this.#timedOut = `${what} did not come within ${timeoutMs} ms.`
      this.#controller.abort()
    }, timeoutMs)
  }

  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  /** Ends what still runs. */
  close(): void {
    this.stopTimer()
    this.#outer?.removeEventListener('abort', this.#onAbort)
    this.#controller.abort()
  }

  /** Frees the timer and the listener, and lets what was received be used. */
  release(): void {
    this.stopTimer()
    this.#outer?.removeEventListener('abort', this.#onAbort)
  }

  /** Returns what a failure inside this attempt is for the caller. */
  toError(error: unknown): unknown {
    if (this.#outer?.aborted === true) return toAbortReason(this.#outer)
    if (this.#timedOut !== undefined) return new RideauTimeoutError(this.#timedOut, { cause: error })
    if (error instanceof RideauError) return error
    const message = error instanceof Error ? error.message : String(error)
    return new RideauConnectionError(`The connection failed: ${message}`, { cause: error })
  }
}
