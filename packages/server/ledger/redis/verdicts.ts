import type { Meter } from '../../core/meter.ts'
import { amountOf } from '../amounts.ts'
import type { Amounts, Refused, Standing, Verdict } from '../ledger.ts'

/** The server's clock to the gateway's: what is told as an instant is one of the gateway's. Milliseconds. */
type Shift = number

/** `values`: settled, held, oldest of each meter, from index 1 on. */
export function toStandings(meters: readonly Meter[], values: readonly number[], shift: Shift): Standing[] {
  return meters.map((meter, index) => {
    const at = 1 + index * 3
    const resetAt = resetOf(meter, values[at + 2] ?? -1, shift)
    return { meter, settled: values[at] ?? 0, held: values[at + 1] ?? 0, resetAt }
  })
}

/** `values`: index, settled, held, oldest, freed at of each meter that says no, from index 1 on. */
export function toRefusal(
  meters: readonly Meter[],
  values: readonly number[],
  wantedOf: (meter: Meter) => number,
  shift: Shift,
): Verdict {
  let refused: Refused | undefined
  for (let at = 1; at < values.length; at += 5) {
    const [index = 0, settled = 0, held = 0, oldest = -1, freed = -1] = values.slice(at, at + 5)
    const meter = meters[index] as Meter
    const wanted = wantedOf(meter)
    const resetAt = resetOf(meter, oldest, shift)
    const no = { meter, settled, held, resetAt, wanted, retryAt: retryOf(meter, wanted, freed, shift) }
    if (refused === undefined || waits(no) > waits(refused)) refused = no
  }
  return refused === undefined
    ? { isAdmitted: false, unavailable: 'the counters gave no reason' }
    : { isAdmitted: false, refused }
}

export function growthOf(meter: Meter, before: Amounts, after: Amounts): number {
  return amountOf(meter.metric, after) - amountOf(meter.metric, before)
}

function resetOf(meter: Meter, oldest: number, shift: Shift): number | null {
  if (meter.kind === 'rolling') return oldest < 0 ? null : oldest + meter.windowMs + shift
  return meter.kind === 'span' ? meter.end : null
}

function retryOf(meter: Meter, wanted: number, freed: number, shift: Shift): number | null {
  if (wanted > meter.limit) return null
  if (meter.kind === 'rolling') return freed < 0 ? null : freed + meter.windowMs + shift
  return meter.kind === 'span' ? meter.end : null
}

/** For the order of refusals: a slot that may be free any moment is the shortest wait, one that never comes the longest. */
function waits({ meter, retryAt }: Refused): number {
  if (meter.metric === 'in_flight') return 0
  return retryAt ?? Number.POSITIVE_INFINITY
}
