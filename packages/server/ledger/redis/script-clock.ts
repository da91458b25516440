export interface ScriptClockOptions {
  /** Unix milliseconds by the gateway's clock. */
  readonly now: () => number
  /** For tests: scripts use the time of the last call in place of the server's clock. */
  readonly isTimeGiven?: boolean
}

/** The time that scripts count by: the server's clock, which all processes share. */
export class ScriptClock {
  readonly #now: () => number
  readonly #isTimeGiven: boolean
  /** The time that the last call of the ledger was given, in Unix milliseconds. */
  givenTime = 0

  constructor({ now, isTimeGiven = false }: ScriptClockOptions) {
    this.#now = now
    this.#isTimeGiven = isTimeGiven
  }

  /** Returns ARGV[1] of a script. Empty: the server's own clock. */
  time(): string | number {
    return this.#isTimeGiven ? this.givenTime : ''
  }

  /** Returns how far the gateway's clock is ahead of the server's, in ms. Called after a reply has arrived, so that no wait is too short. */
  shift(serverNow: number): number {
    return this.#isTimeGiven ? 0 : this.#now() - serverNow
  }
}
