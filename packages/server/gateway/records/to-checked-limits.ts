import type { CheckedLimit } from '../../core/records/request-record.ts'
import type { LimitRefusal, MeterStatus } from '../../ledger/ledger.ts'
import type { Reservation } from '../limits/reservations.ts'

/** Keeps a record small. More limits than these seldom apply to a request. */
const MAX_LIMITS = 12

/**
 * Returns the limits of a request for its record: the one that refused it first, then those with the smallest remaining share;
 * null: there are none. `refusal`: of the whole request, which has no reservation then. The other limits of such a request are not known.
 */
export function toCheckedLimits(
  reservation: Pick<Reservation, 'amounts' | 'meterStatuses' | 'refusal'> | undefined,
  refusal: LimitRefusal | undefined,
): CheckedLimit[] | null {
  if (refusal !== undefined) return [toChecked(refusal, 0, refusal.wanted)]
  if (reservation === undefined || reservation.meterStatuses.length === 0) return null
  const { amounts, meterStatuses, refusal: ofMore } = reservation
  const all = meterStatuses.map(status => {
    const { metric } = status.meter
    const own = metric === 'tokens' ? amounts.tokens : metric === 'nano_usd' ? amounts.nanoUsd : 1
    return toChecked(status, own, ofMore?.meter.key === status.meter.key ? ofMore.wanted : undefined)
  })
  if (all.length === 1) return all
  return all.sort((a, b) => remainingShare(a) - remainingShare(b)).slice(0, MAX_LIMITS)
}

function toChecked(
  { meter, settled, reserved: all }: MeterStatus,
  reserved: number,
  refused: number | undefined,
): CheckedLimit {
  const { kind, id, scope } = meter.source
  const { metric, nominalLimit: limit } = meter
  const checked: CheckedLimit = {
    ...{ kind, id, scope, metric, limit, reserved },
    remaining: Math.max(0, limit - settled - all),
  }
  if (refused !== undefined) checked.refused = refused
  return checked
}

/** Returns the share of the limit that is left; for a limit that refused something, less than any share. */
function remainingShare({ limit, remaining, refused }: CheckedLimit): number {
  if (refused !== undefined) return -1
  return limit === 0 ? 0 : remaining / limit
}
