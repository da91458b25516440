import type { Meter } from '../../core/limits/meter.ts'
import type { LimitRefusal, MeterStatus } from '../ledger.ts'

/** Returns true if a meter has room for `wanted` more. Subtracts, so that no intermediate result exceeds 2^53. */
export function fits(limit: number, settled: number, reserved: number, wanted: number): boolean {
  return wanted <= limit - settled - reserved
}

/** `oldestAt`: time of the oldest entry that a rolling meter counts, in Unix milliseconds; null: none, or another kind of meter. */
export function toStatus(
  meter: Meter,
  settled: number,
  reserved: number,
  oldestAt: number | null,
): MeterStatus {
  return { meter, settled, reserved, resetAt: resetAt(meter, oldestAt) }
}

/**
 * Returns the refusal of a meter. `lastBlockingAt`: time of the entry of a rolling meter that must leave the window before
 * the request fits, in Unix milliseconds; null: none, or another kind of meter.
 */
export function toRefusal(
  meter: Meter,
  settled: number,
  reserved: number,
  oldestAt: number | null,
  wanted: number,
  lastBlockingAt: number | null,
): LimitRefusal {
  const retryAt = wanted > meter.limit ? null : resetAt(meter, lastBlockingAt)
  return { meter, settled, reserved, resetAt: resetAt(meter, oldestAt), wanted, retryAt }
}

/** Returns when a window has ended or, of a rolling meter, when an entry of time `entryAt` has left it. */
function resetAt(meter: Meter, entryAt: number | null): number | null {
  if (meter.kind === 'rolling') return entryAt === null ? null : entryAt + meter.windowMs
  return meter.kind === 'fixed' ? meter.end : null
}

/** Returns the refusal with the longer wait; of equal waits the first. */
export function longerWait(first: LimitRefusal | undefined, second: LimitRefusal): LimitRefusal {
  return first === undefined || waitRank(second) > waitRank(first) ? second : first
}

/** A slot of concurrency may become free at any moment, so it is the shortest wait. A wait that never ends is the longest. */
function waitRank({ meter, retryAt }: LimitRefusal): number {
  if (meter.metric === 'in_flight') return 0
  return retryAt ?? Number.POSITIVE_INFINITY
}
