import type { Meter } from '../../core/limits/meter.ts'
import type { LimitRefusal, MeterStatus, Verdict } from '../ledger.ts'
import { longerWait, toRefusal, toStatus } from '../rules/refusals.ts'

/** The first number of the replies of run-batch.lua and read-meters.lua. 0: refused. */
export const ADMITTED = 1
export const MISSING_COUNTERS = 2
export const RUNNING_ALREADY = 3
export const ENDED = 4

/** What to add to a time of the server to get the gateway's, in milliseconds. */
type ClockShift = number

/** Reads the statuses of meters. `values`: from index 1 on, settled, reserved and oldest of each meter. */
export function readStatuses(
  meters: readonly Meter[],
  values: readonly number[],
  shift: ClockShift,
): MeterStatus[] {
  return meters.map((meter, index) => {
    const at = 1 + index * 3
    return toStatus(meter, values[at] ?? 0, values[at + 1] ?? 0, toTime(values[at + 2], shift))
  })
}

/**
 * Reads the refusals of meters and returns the one with the longest wait. `values`: from index 1 on, index, settled, reserved,
 * oldest and blocking time of each meter that refuses.
 */
export function readRefusal(
  meters: readonly Meter[],
  values: readonly number[],
  wantedOf: (meter: Meter) => number,
  shift: ClockShift,
): Verdict {
  let refusal: LimitRefusal | undefined
  for (let at = 1; at < values.length; at += 5) {
    const [index = 0, settled = 0, reserved = 0, oldest, blocking] = values.slice(at, at + 5)
    const meter = meters[index] as Meter
    const [oldestAt, blockingAt] = [toTime(oldest, shift), toTime(blocking, shift)]
    const refused = toRefusal(meter, settled, reserved, oldestAt, wantedOf(meter), blockingAt)
    refusal = longerWait(refusal, refused)
  }
  return refusal === undefined
    ? { isAdmitted: false, unavailable: 'Redis refused the request without naming a meter' }
    : { isAdmitted: false, refusal }
}

/** Returns the meters whose counters do not exist. `values`: their indices from index 1 on. */
export function readMissing(meters: readonly Meter[], values: readonly number[]): Meter[] {
  return values.slice(1).map(index => meters[index] as Meter)
}

function toTime(time: number | undefined, shift: ClockShift): number | null {
  return time === undefined || time < 0 ? null : time + shift
}
