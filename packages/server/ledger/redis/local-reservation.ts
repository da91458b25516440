import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import type { Amounts, MeterStatus } from '../ledger.ts'
import { rowOf, subjectArgs } from './meter-args.ts'

/** A reservation of this process, with all that a server needs to restore it. */
export interface LocalReservation {
  readonly id: string
  /** The name of the process whose request it is: this one or a worker. */
  readonly owner: string
  readonly subject: MeterSubject
  /** Time of arrival by the gateway's clock, in Unix milliseconds. */
  readonly arrivedAt: number
  readonly meters: readonly Meter[]
  /** Time of admission by the server's clock, in Unix milliseconds. */
  readonly admittedAt: number
  /** The run that knows it or may know it; undefined: it was admitted during an outage and no server knows it. */
  run: string | undefined
  /** Whether that run's server has confirmed that it knows it. */
  isConfirmed: boolean
  amounts: Amounts
  leaseMs: number
  /** The statuses in the last reply of the server. */
  statuses: readonly MeterStatus[]
}

/** Returns the ARGV of restore-reservation.lua after the time. */
export function restoreArgs(reservation: LocalReservation, owner: string): (string | number)[] {
  const { id, leaseMs, amounts, arrivedAt, subject, admittedAt, meters } = reservation
  const args: (string | number)[] = [id, leaseMs, amounts.tokens, amounts.nanoUsd, arrivedAt]
  args.push(...subjectArgs(subject), owner, admittedAt)
  for (const meter of meters) {
    const [name, code, , window] = rowOf(meter)
    args.push(name, code, window)
  }
  return args
}
