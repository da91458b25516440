import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import type { Amounts } from '../ledger.ts'
import { expiredAmount, growth, reservedAmount, settledAmount } from '../rules/counting-rules.ts'
import type { CounterRow } from './counter-row.ts'
import type { RollingEntry } from './rolling-counter.ts'

/** What a running request reserves of one meter. */
interface Share {
  readonly meter: Meter
  readonly row: CounterRow
  /** The entry in a rolling meter; undefined for other meters. */
  readonly entry: RollingEntry | undefined
}

export interface ProcessReservation {
  /** The process whose request it is. */
  readonly owner: string
  readonly subject: MeterSubject
  /** Time of arrival, in Unix milliseconds. */
  readonly arrivedAt: number
  /** Time of admission, in Unix milliseconds. */
  readonly at: number
  readonly shares: readonly Share[]
  /** The number of rows that were opened before. Later rows do not know this reservation. */
  readonly sequence: number
  amounts: Amounts
  /** In milliseconds by the clock of leases. */
  leaseEnd: number
  /** The lease has run out: its amounts are settled as used. */
  isExpired: boolean
}

/** Adds a request's share to a row. */
export function addShare(meter: Meter, row: CounterRow, amounts: Amounts, at: number): Share {
  const { counter } = row
  row.shareCount++
  const amount = reservedAmount(row.rule, amounts)
  if (counter.kind === 'rolling') return { meter, row, entry: counter.reserve(at, amount) }
  counter.reserved += amount
  return { meter, row, entry: undefined }
}

/** Changes the reserved amounts of every share. The caller has checked that they fit. */
export function resize(reservation: ProcessReservation, amounts: Amounts): void {
  for (const { row, entry } of reservation.shares) {
    const delta = growth(row.rule, reservation.amounts, amounts)
    if (delta === 0) continue
    if (row.counter.kind === 'rolling') row.counter.adjust(entry as RollingEntry, delta)
    else row.counter.reserved += delta
  }
  reservation.amounts = amounts
}

/** Replaces a share by the usage of its request. */
export function settleShare(
  { meter, row, entry }: Share,
  { amounts, isExpired }: ProcessReservation,
  usage: MeteredUsage,
): void {
  const { rule, counter } = row
  row.shareCount--
  const used = settledAmount(rule, meter, usage)
  if (counter.kind === 'rolling') {
    const delta = used - reservedAmount(rule, amounts)
    if (delta !== 0) counter.adjust(entry as RollingEntry, delta)
    counter.settle(entry as RollingEntry)
  } else if (isExpired) {
    counter.settled += used - expiredAmount(rule, amounts)
  } else {
    counter.reserved -= reservedAmount(rule, amounts)
    counter.settled += used
  }
}

/** Removes every share, as if the request had never come. */
export function releaseShares({ shares, amounts, isExpired }: ProcessReservation): void {
  for (const { row, entry } of shares) {
    const { rule, counter } = row
    row.shareCount--
    if (counter.kind === 'rolling') {
      counter.adjust(entry as RollingEntry, -reservedAmount(rule, amounts))
      // Otherwise it could never be merged with its neighbours.
      counter.settle(entry as RollingEntry)
    } else if (isExpired) counter.settled -= expiredAmount(rule, amounts)
    else counter.reserved -= reservedAmount(rule, amounts)
  }
}

/** Settles the reserved amounts as used, because the lease has run out. */
export function expireReservation(reservation: ProcessReservation): void {
  reservation.isExpired = true
  for (const { row, entry } of reservation.shares) {
    const { rule, counter } = row
    if (counter.kind === 'rolling') counter.settle(entry as RollingEntry)
    else {
      counter.reserved -= reservedAmount(rule, reservation.amounts)
      counter.settled += expiredAmount(rule, reservation.amounts)
    }
  }
}

/** Leaves what an expired reservation counts as used for good. */
export function forgetShares({ shares }: ProcessReservation): void {
  for (const { row } of shares) row.shareCount--
}

/** Undoes the expiry, because the request is still running. Whether its amounts still fit is not checked. */
export function restoreReservation(reservation: ProcessReservation): void {
  reservation.isExpired = false
  for (const { row, entry } of reservation.shares) {
    const { rule, counter } = row
    if (counter.kind === 'rolling') counter.unsettle(entry as RollingEntry)
    else {
      counter.reserved += reservedAmount(rule, reservation.amounts)
      counter.settled -= expiredAmount(rule, reservation.amounts)
    }
  }
}
