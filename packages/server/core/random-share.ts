import type { Random } from './random.ts'

/** Returns a random number in [0, 1). */
export function randomShare(random: Random): number {
  return random.bytes(4).readUInt32BE() / 2 ** 32
}
