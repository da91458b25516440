/** The current time, passed as an argument so that a test can set it. */
export interface Clock {
  /** Returns Unix milliseconds. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
