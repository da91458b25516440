import { MAX_ROLLING_ENTRIES } from '../../core/rolling-resolution.ts'
import type { RollingCounter } from './rolling-counter.ts'

/** The rolling counters of one organization. */
interface OrganizationCounters {
  readonly counters: RollingCounter[]
  entries: number
}

/**
 * Bounds the entries of all rolling counters together to about `most`. A counter has one for each request of up to 31 days, so the end
 * users of one busy key could otherwise take all memory. The organizations that have the most keep fewer entries of their largest
 * counters, whose waits are longer then; what the others have stays exact. `counters`: each with its organization.
 */
export function boundEntries(counters: Iterable<readonly [string, RollingCounter]>, most: number): void {
  const byOrg = new Map<string, OrganizationCounters>()
  let total = 0
  for (const [orgId, counter] of counters) {
    const { entryCount } = counter
    total += entryCount
    const known = byOrg.get(orgId)
    if (known === undefined) byOrg.set(orgId, { counters: [counter], entries: entryCount })
    else {
      known.counters.push(counter)
      known.entries += entryCount
    }
  }
  const all = [...byOrg.values()]
  const share =
    total <= most
      ? Number.POSITIVE_INFINITY
      : findLevel(
          all.map(({ entries }) => entries),
          most,
        )
  for (const { counters: own, entries } of all) {
    const level =
      entries <= share
        ? MAX_ROLLING_ENTRIES
        : findLevel(
            own.map(({ entryCount }) => entryCount),
            share,
          )
    for (const counter of own) counter.keepAtMost(Math.min(level, MAX_ROLLING_ENTRIES))
  }
}

const LEVELS = 31

/** Returns the largest power of two to which each count can be cut so that all together are at most `capacity`; 1 if none is small enough. */
function findLevel(counts: readonly number[], capacity: number): number {
  /** By the logarithm of the smallest power of two that is not below the count. */
  const sums = new Float64Array(LEVELS + 1)
  const numbers = new Float64Array(LEVELS + 1)
  for (const count of counts) {
    const level = count < 2 ? 0 : 32 - Math.clz32(count - 1)
    sums[level] = (sums[level] as number) + count
    numbers[level] = (numbers[level] as number) + 1
  }
  let uncut = 0
  let cut = counts.length
  let found = 0
  for (let level = 0; level <= LEVELS; level++) {
    uncut += sums[level] as number
    cut -= numbers[level] as number
    if (uncut + cut * 2 ** level > capacity) break
    found = level
  }
  return 2 ** found
}
