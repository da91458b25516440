import { randomBytes } from 'node:crypto'

/** Time and randomness are arguments, so that a test can hold them. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
}

export interface Random {
  bytes(length: number): Buffer
}

export const systemClock: Clock = { now: () => Date.now() }
export const systemRandom: Random = { bytes: length => randomBytes(length) }
