import type { Random } from './chance.ts'

/** In [0, 1). */
export function chance(random: Random): number {
  return random.bytes(4).readUInt32BE() / 2 ** 32
}
