const LOG_EVERY_MS = 60_000

/** At most one line of the log a minute about one condition, which may hold for every request. */
export class LogPace {
  #loggedAt = Number.NEGATIVE_INFINITY

  /** Returns whether a line may be logged now, in monotonic milliseconds, and counts it as logged if so. */
  isDue(now: number): boolean {
    if (now - this.#loggedAt < LOG_EVERY_MS) return false
    this.#loggedAt = now
    return true
  }
}
