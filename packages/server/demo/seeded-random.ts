import type { Random } from '../core/random.ts'

/** Returns numbers from 0 to 1 that are the same at every run (mulberry32). */
export function createSeededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Returns bytes of the same series: for ids that are equal at every run, never for secrets. */
export function toBytes(random: () => number): Random {
  return { bytes: length => Buffer.from(Array.from({ length }, () => Math.floor(random() * 256))) }
}

export function pick<T extends { readonly weight: number }>(entries: readonly T[], random: () => number): T {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0)
  let remaining = random() * total
  for (const entry of entries) {
    remaining -= entry.weight
    if (remaining < 0) return entry
  }
  return entries[0] as T
}

/** Returns a log-normal value: most are near the median, few are many times as large. */
export function logNormal(random: () => number, median: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return median * Math.exp(sigma * normal)
}
