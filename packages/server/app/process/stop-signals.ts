/** Signals that come this soon after the first are one: a terminal signals npm and this process, and npm passes its own on. */
const ONE_SIGNAL_MS = 1_000

/** What a signal asks for. */
export type SignalMeaning = 'stop' | 'repeated' | 'force'

/** Tells what each signal of a process asks for. Times are Unix milliseconds. */
export class StopSignals {
  #firstAt: number | undefined
  #isForced = false

  /** The first signal stops, one more than a second later ends by force. All others ask for nothing new. */
  note(now: number): SignalMeaning {
    if (this.#firstAt === undefined) {
      this.#firstAt = now
      return 'stop'
    }
    // A clock that was set back must not make the program unstoppable.
    const sinceFirst = Math.abs(now - this.#firstAt)
    if (this.#isForced || sinceFirst < ONE_SIGNAL_MS) return 'repeated'
    this.#isForced = true
    return 'force'
  }
}
