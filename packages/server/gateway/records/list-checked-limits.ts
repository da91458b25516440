import type { CheckedLimit } from '../../core/request-record.ts'
import type { Reservation } from '../limits/reservations.ts'

/** Keeps a record small. More limits than these seldom apply to a request. */
const MOST_LIMITS = 12

/** Returns the limits of a reservation for the record, those with the smallest remaining share first; null: there are none. */
export function listCheckedLimits(reservation: Reservation | undefined): CheckedLimit[] | null {
  if (reservation === undefined || reservation.meterStatuses.length === 0) return null
  const { amounts, meterStatuses } = reservation
  const all = meterStatuses.map(({ meter, settled, reserved }): CheckedLimit => {
    const { kind, id, scope } = meter.source
    const { metric, nominalLimit: limit } = meter
    const own = metric === 'tokens' ? amounts.tokens : metric === 'nano_usd' ? amounts.nanoUsd : 1
    return {
      kind,
      id,
      scope,
      metric,
      limit,
      reserved: own,
      remaining: Math.max(0, limit - settled - reserved),
    }
  })
  if (all.length === 1) return all
  return all.sort((a, b) => shareLeft(a) - shareLeft(b)).slice(0, MOST_LIMITS)
}

function shareLeft({ limit, remaining }: CheckedLimit): number {
  return limit === 0 ? 0 : remaining / limit
}
