import { MAX_ROLLING_ENTRIES } from '../../core/rolling-resolution.ts'
import type { ShortTicks } from '../../core/short-ticks.ts'
import type { RollingCounter } from './rolling-counter.ts'

/** What has rolling counters: an organization. */
export interface EntryHolder {
  /** The entries of all its rolling counters. */
  readonly entryCount: number
  /** The entries that each of its rolling counters keeps at most. */
  mostEntries: number
  rollingCounters(): Iterable<RollingCounter>
}

/**
 * Bounds the entries of all rolling counters together to about `most`. A counter has one for each request of up to 31 days, so the end
 * users of one busy key could otherwise take all memory. The organizations that have the most keep fewer entries of their largest
 * counters, whose waits are longer then; what the others have stays exact.
 */
export async function boundEntries(
  holders: readonly EntryHolder[],
  most: number,
  ticks: Pick<ShortTicks, 'isOver' | 'next'>,
): Promise<void> {
  const counts = new CountsByLevel()
  for (const { entryCount } of holders) counts.add(entryCount)
  const share = counts.sum <= most ? Number.POSITIVE_INFINITY : counts.chooseLevel(most)
  for (const holder of holders) {
    const isBounded = holder.entryCount > share
    if (!isBounded && holder.mostEntries === MAX_ROLLING_ENTRIES) continue
    holder.mostEntries = MAX_ROLLING_ENTRIES
    if (isBounded) {
      const own = new CountsByLevel()
      for (const { entryCount } of holder.rollingCounters()) {
        own.add(entryCount)
        if (ticks.isOver) await ticks.next()
      }
      holder.mostEntries = Math.min(own.chooseLevel(share), MAX_ROLLING_ENTRIES)
    }
    for (const counter of holder.rollingCounters()) {
      counter.keepAtMost(holder.mostEntries)
      if (ticks.isOver) await ticks.next()
    }
  }
}

const LEVELS = 31

/** Numbers of entries, by the logarithm of the smallest power of two that is not below them. */
class CountsByLevel {
  readonly #sums = new Float64Array(LEVELS + 1)
  readonly #numbers = new Float64Array(LEVELS + 1)
  sum = 0
  #number = 0

  add(count: number): void {
    const level = count < 2 ? 0 : 32 - Math.clz32(count - 1)
    this.#sums[level] = (this.#sums[level] as number) + count
    this.#numbers[level] = (this.#numbers[level] as number) + 1
    this.sum += count
    this.#number++
  }

  /** Returns the largest power of two to which each count can be cut so that all together are at most `capacity`; 1 if none is small enough. */
  chooseLevel(capacity: number): number {
    let uncut = 0
    let cut = this.#number
    let found = 0
    for (let level = 0; level <= LEVELS; level++) {
      uncut += this.#sums[level] as number
      cut -= this.#numbers[level] as number
      if (uncut + cut * 2 ** level > capacity) break
      found = level
    }
    return 2 ** found
  }
}
