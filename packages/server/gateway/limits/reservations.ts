import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import { type OnException, runGuarded, throwLater } from '../../core/on-exception.ts'
import { ShortLivedMap } from '../../core/short-lived-map.ts'
import type { Amounts, Ledger, LimitRefusal, MeterStatus, Verdict } from '../../ledger/ledger.ts'

export interface ReservationsOptions {
  readonly ledger: Ledger
  /** Unix milliseconds. */
  readonly now: () => number
  /** How long a reservation outlives its process, in milliseconds. */
  readonly leaseMs?: number
  readonly onException?: OnException
}

/** Leases are renewed after this share of their duration, so three renewals may fail before they expire. */
const RENEW_AFTER = 1 / 4

/** What a running request reserves on its limits. Ends with the first of settle and release. */
export class Reservation {
  readonly #owner: Reservations
  readonly #id: string
  readonly meterStatuses: readonly MeterStatus[]
  amounts: Amounts
  /** When the lease was last renewed, as of performance.now(): the clock may be set. */
  renewedAt: number
  /** The limit that last refused to extend it. */
  refusal: LimitRefusal | undefined
  /** The bill of abandoned attempts. Reserved in addition until the request is settled. */
  #abandoned: Amounts = { tokens: 0, nanoUsd: 0 }

  constructor(
    owner: Reservations,
    id: string,
    meterStatuses: readonly MeterStatus[],
    amounts: Amounts,
    renewedAt: number,
  ) {
    this.#owner = owner
    this.#id = id
    this.meterStatuses = meterStatuses
    this.amounts = amounts
    this.renewedAt = renewedAt
  }

  /** Changes the reservation to these amounts plus the bill of abandoned attempts, if all limits allow it. */
  extend(amounts: Amounts): Verdict | Promise<Verdict> {
    return this.#extendTo(addAmounts(amounts, this.#abandoned))
  }

  /**
   * Keeps the bill of an abandoned attempt reserved and reserves as much again for the next attempt, if all limits
   * allow it.
   */
  chargeAbandoned(abandoned: Amounts): Verdict | Promise<Verdict> {
    this.#abandoned = addAmounts(this.#abandoned, abandoned)
    return this.#extendTo(addAmounts(this.amounts, abandoned))
  }

  #extendTo(amounts: Amounts): Verdict | Promise<Verdict> {
    const verdict = this.#owner.extend(this.#id, this, amounts)
    if (verdict instanceof Promise) return verdict.then(result => this.#keepAmounts(result, amounts))
    return this.#keepAmounts(verdict, amounts)
  }

  /** Replaces the reservation with the usage. */
  settle(used: MeteredUsage): void {
    this.#owner.settle(this.#id, used)
  }

  /** Undoes the reservation. For requests that used nothing. */
  release(): void {
    this.#owner.release(this.#id)
  }

  #keepAmounts(verdict: Verdict, amounts: Amounts): Verdict {
    if (verdict.isAdmitted) this.amounts = amounts
    else if ('refusal' in verdict) this.refusal = verdict.refusal
    return verdict
  }
}

function addAmounts(one: Amounts, other: Amounts): Amounts {
  return { tokens: one.tokens + other.tokens, nanoUsd: one.nanoUsd + other.nanoUsd }
}

export type ReservationVerdict = Reservation | Exclude<Verdict, { isAdmitted: true }>

/** The running reservations of this process. Renews their leases and expires those of killed processes. */
export class Reservations {
  readonly #ledger: Ledger
  readonly #now: () => number
  readonly #leaseMs: number
  readonly #onException: OnException
  readonly #timer: NodeJS.Timeout
  readonly #running = new ShortLivedMap<Reservation>()

  constructor({ ledger, now, leaseMs = 60_000, onException = throwLater }: ReservationsOptions) {
    this.#ledger = ledger
    this.#now = now
    this.#leaseMs = leaseMs
    this.#onException = onException
    this.#timer = setInterval(
      () => runGuarded('the renewal of leases', onException, () => this.#renewLeases()),
      leaseMs / 12,
    )
    this.#timer.unref()
  }

  get size(): number {
    return this.#running.size
  }

  /** `arrivedAt`: of the request, in Unix milliseconds. */
  open(
    id: string,
    arrivedAt: number,
    subject: MeterSubject,
    meters: readonly Meter[],
    amounts: Amounts,
  ): ReservationVerdict | Promise<ReservationVerdict> {
    const openedAt = performance.now()
    const verdict = this.#ledger.reserve({
      id,
      arrivedAt,
      at: this.#now(),
      meters,
      subject,
      amounts,
      leaseMs: this.#leaseMs,
    })
    if (verdict instanceof Promise) return verdict.then(result => this.#begin(id, result, amounts, openedAt))
    return this.#begin(id, verdict, amounts, openedAt)
  }

  extend(id: string, reservation: Reservation, amounts: Amounts): Verdict | Promise<Verdict> {
    reservation.renewedAt = performance.now()
    return this.#ledger.extend(id, amounts, this.#now(), this.#leaseMs)
  }

  settle(id: string, used: MeteredUsage): void {
    if (!this.#running.delete(id)) return
    const settling = this.#ledger.settle(id, used)
    if (settling instanceof Promise)
      settling.catch(error => this.#onException(error, 'the settlement of a reservation'))
  }

  release(id: string): void {
    if (!this.#running.delete(id)) return
    const releasing = this.#ledger.release(id)
    if (releasing instanceof Promise)
      releasing.catch(error => this.#onException(error, 'the release of a reservation'))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #begin(id: string, verdict: Verdict, amounts: Amounts, openedAt: number): ReservationVerdict {
    if (!verdict.isAdmitted) return verdict
    const reservation = new Reservation(this, id, verdict.statuses, amounts, openedAt)
    this.#running.set(id, reservation)
    return reservation
  }

  #renewLeases(): void {
    const now = performance.now()
    for (const [id, reservation] of this.#running.entries()) {
      // Renewing unchanged amounts is never refused. If the counters are unreachable, the next interval tries again.
      if (now - reservation.renewedAt > this.#leaseMs * RENEW_AFTER)
        runGuarded('the renewal of a lease', this.#onException, () =>
          this.extend(id, reservation, reservation.amounts),
        )
    }
    runGuarded('the expiry of leases', this.#onException, () => this.#ledger.expire(this.#now()))
  }
}
