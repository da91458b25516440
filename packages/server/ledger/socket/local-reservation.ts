import type { Meter } from '../../core/limits/meter.ts'
import type { Amounts, MeterStatus } from '../ledger.ts'
import { growth, ruleOf } from '../rules/counting-rules.ts'

/** A reservation of this worker. */
export interface LocalReservation {
  readonly id: string
  readonly meters: readonly Meter[]
  amounts: Amounts
  /** The statuses in the last result. */
  statuses: readonly MeterStatus[]
}

/** Returns true if these amounts reserve more on any meter. */
export function grows({ meters, amounts: before }: LocalReservation, amounts: Amounts): boolean {
  return meters.some(meter => growth(ruleOf(meter), before, amounts) > 0)
}
