import { randomBytes } from 'node:crypto'

/** A source of random bytes, passed as an argument so that a test can set them. */
export interface Random {
  bytes(length: number): Buffer
}

export const systemRandom: Random = { bytes: length => randomBytes(length) }
