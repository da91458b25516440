import type { Meter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import { ShortLivedMap } from '../../core/short-lived-map.ts'
import type {
  Amounts,
  Ledger,
  LedgerOptions,
  LimitRefusal,
  MeterStatus,
  RecoveredSettlement,
  ReserveRequest,
  Verdict,
} from '../ledger.ts'
import { growth, reservedAmount } from '../rules/counting-rules.ts'
import { fits, longerWait, toRefusal, toStatus } from '../rules/refusals.ts'
import type { CounterRow } from './counter-row.ts'
import { CounterTable } from './counter-table.ts'
import {
  addShare,
  expireReservation,
  forgetShares,
  type ProcessReservation,
  releaseShares,
  resize,
  restoreReservation,
  settleShare,
} from './process-reservation.ts'

/** How long an expired reservation is kept for the settle or extend that corrects it. */
const EXPIRED_KEPT_MS = 3_600_000

export interface ProcessLedgerOptions extends LedgerOptions {
  /** Unix milliseconds from which this process counts every request of the deployment; Infinity: never. */
  readonly openedAt: number
  /**
   * True: requests of worker processes are counted too. Their usage records may be stored before or after they are settled
   * here, in any order.
   */
  readonly hasWorkers?: boolean
  /** For tests: leases run by the times that calls give, in place of a clock that nobody sets. */
  readonly isTimeGiven?: boolean
  /** The entries of all rolling counters together, and the counters. Default: what counter-table.ts keeps. */
  readonly maxEntries?: number
  readonly maxRows?: number
}

/**
 * The ledger of a deployment with one gateway process, or of the supervisor of several. Synchronous once the counters are
 * seeded.
 */
export class ProcessLedger implements Ledger {
  readonly owner: string
  readonly #isTimeGiven: boolean
  readonly #counters: CounterTable
  readonly #reservations = new ShortLivedMap<ProcessReservation>()
  #pruning: Promise<void> | undefined

  constructor(options: ProcessLedgerOptions) {
    this.owner = options.owner
    this.#isTimeGiven = options.isTimeGiven === true
    this.#counters = new CounterTable({
      ...options,
      listRunning: options.hasWorkers === true ? () => this.#listIds() : undefined,
    })
  }

  /** `owner`: the name of the worker whose request it is. */
  reserve(request: ReserveRequest, owner: string = this.owner): Verdict | Promise<Verdict> {
    this.#counters.crowdOut(request.at)
    const rows = this.#counters.find(request.meters, request.at)
    return rows === undefined ? this.#reserveSeeded(request, owner) : this.#reserveIn(rows, request, owner)
  }

  async #reserveSeeded(request: ReserveRequest, owner: string): Promise<Verdict> {
    const { meters, at } = request
    const verdict = await this.#useSeeded(meters, at, rows => this.#reserveIn(rows, request, owner))
    return (
      verdict ?? { isAdmitted: false, unavailable: 'the usage so far could not be read from the database' }
    )
  }

  /** Returns what `use` returns for the rows of these meters, in the tick in which all are seeded; undefined where one cannot be. */
  async #useSeeded<Result>(
    meters: readonly Meter[],
    at: number,
    use: (rows: readonly CounterRow[]) => Result,
  ): Promise<Result | undefined> {
    for (;;) {
      const rows = this.#counters.find(meters, at)
      if (rows !== undefined) return use(rows)
      try {
        await this.#counters.seed(meters, at)
      } catch {
        return undefined
      }
    }
  }

  /** Atomic because it is synchronous: no other code runs between the check and the reservation. */
  #reserveIn(rows: readonly CounterRow[], request: ReserveRequest, owner: string): Verdict {
    const { id, meters, amounts, arrivedAt, at, subject, leaseMs } = request
    if (this.#reservations.has(id)) throw new Error(`request ${id} has a reservation already`)
    let refusal: LimitRefusal | undefined
    for (let index = 0; index < meters.length; index++) {
      const meter = meters[index] as Meter
      const row = rows[index] as CounterRow
      const refused = checkMeter(meter, row, reservedAmount(row.rule, amounts), at)
      if (refused !== undefined) refusal = longerWait(refusal, refused)
    }
    if (refusal !== undefined) return { isAdmitted: false, refusal }
    const shares = []
    const statuses: MeterStatus[] = []
    for (let index = 0; index < meters.length; index++) {
      const meter = meters[index] as Meter
      const row = rows[index] as CounterRow
      shares.push(addShare(meter, row, amounts, at))
      statuses.push(statusOf(meter, row))
    }
    const { sequence } = this.#counters
    const leaseEnd = this.#leaseTime(at) + leaseMs
    this.#reservations.set(id, {
      owner,
      subject,
      arrivedAt,
      at,
      shares,
      sequence,
      amounts,
      leaseEnd,
      isExpired: false,
    })
    return { isAdmitted: true, statuses }
  }

  extend(id: string, amounts: Amounts, at: number, leaseMs: number): Verdict {
    const reservation = this.#reservations.get(id)
    if (reservation === undefined) return { isAdmitted: false, unavailable: 'the reservation has ended' }
    if (reservation.isExpired) restoreReservation(reservation)
    reservation.leaseEnd = this.#leaseTime(at) + leaseMs
    let refusal: LimitRefusal | undefined
    for (const { meter, row } of reservation.shares) {
      const wanted = growth(row.rule, reservation.amounts, amounts)
      const refused = checkMeter(meter, row, wanted, at)
      // A renewal or a smaller reservation is never refused, even where a limit was lowered below what is used.
      if (refused !== undefined && wanted > 0) refusal = longerWait(refusal, refused)
    }
    if (refusal !== undefined) return { isAdmitted: false, refusal }
    resize(reservation, amounts)
    return { isAdmitted: true, statuses: reservation.shares.map(({ meter, row }) => statusOf(meter, row)) }
  }

  settle(id: string, usage: MeteredUsage): void {
    const reservation = this.#reservations.get(id)
    if (reservation === undefined) return
    this.#reservations.delete(id)
    for (const share of reservation.shares) {
      settleShare(share, reservation, usage)
      this.#counters.noteSettled(share.meter, share.row)
    }
    const { sequence, arrivedAt, at, subject } = reservation
    this.#counters.addToYounger(sequence, { id, arrivedAt, at, subject, usage })
  }

  /**
   * Settles requests of killed workers. After a restart it changes nothing: the counters ended with the killed process, and
   * new ones are seeded with its usage records.
   */
  async settleRecovered(settlements: readonly RecoveredSettlement[] = []): Promise<void> {
    for (const { id, usage } of settlements) this.settle(id, usage)
  }

  release(id: string): void {
    const reservation = this.#reservations.get(id)
    if (reservation === undefined) return
    this.#reservations.delete(id)
    releaseShares(reservation)
  }

  read(meters: readonly Meter[], at: number): Promise<readonly MeterStatus[] | undefined> {
    return this.#useSeeded(meters, at, rows =>
      meters.map((meter, index) => {
        const row = rows[index] as CounterRow
        if (row.counter.kind === 'rolling') row.counter.expireEntries(at)
        return statusOf(meter, row)
      }),
    )
  }

  /** Resolves once counters that are not needed any more are removed too, in short ticks. */
  async expire(at: number): Promise<number> {
    let expired = 0
    const now = this.#leaseTime(at)
    for (const [id, reservation] of this.#reservations.entries()) {
      const { leaseEnd } = reservation
      if (!reservation.isExpired) {
        if (leaseEnd >= now) continue
        expireReservation(reservation)
        expired++
      } else if (leaseEnd + EXPIRED_KEPT_MS < now) {
        this.#reservations.delete(id)
        forgetShares(reservation)
      }
    }
    // One that still runs is enough.
    this.#pruning ??= this.#counters.prune(at).finally(() => (this.#pruning = undefined))
    await this.#pruning
    return expired
  }

  /**
   * Ends the reservations of a worker that was killed, without waiting for their leases. Call it once what its journal says
   * was settled. Returns how many there were.
   */
  expireOwner(owner: string): number {
    let expired = 0
    for (const [, reservation] of this.#reservations.entries()) {
      if (reservation.owner !== owner || reservation.isExpired) continue
      expireReservation(reservation)
      expired++
    }
    return expired
  }

  /** Returns the time by which leases run, in milliseconds. A clock that is set neither ends nor prolongs them. */
  #leaseTime(at: number): number {
    return this.#isTimeGiven ? at : performance.now()
  }

  #listIds(): string[] {
    return Array.from(this.#reservations.entries(), ([id]) => id)
  }

  /** Number of counters in memory. */
  get rowCount(): number {
    return this.#counters.size
  }

  /** Number of requests with a reservation. */
  get reservationCount(): number {
    return this.#reservations.size
  }

  health(): { isHealthy: boolean; reasons: readonly string[] } {
    return { isHealthy: true, reasons: [] }
  }

  async close(): Promise<void> {}
}

/** Returns the refusal of a meter that has no room for `wanted` more; undefined where it fits. */
function checkMeter(
  meter: Meter,
  { counter }: CounterRow,
  wanted: number,
  at: number,
): LimitRefusal | undefined {
  if (counter.kind === 'rolling') counter.expireEntries(at)
  const { settled, reserved } = counter
  if (fits(meter.limit, settled, reserved, wanted)) return undefined
  if (counter.kind !== 'rolling') return toRefusal(meter, settled, reserved, null, wanted, null)
  const excess = wanted - (meter.limit - settled - reserved)
  const lastBlockingAt = wanted > meter.limit ? null : counter.findBlockingAt(excess)
  return toRefusal(meter, settled, reserved, counter.oldestAt(), wanted, lastBlockingAt)
}

function statusOf(meter: Meter, { counter }: CounterRow): MeterStatus {
  const oldestAt = counter.kind === 'rolling' ? counter.oldestAt() : null
  return toStatus(meter, counter.settled, counter.reserved, oldestAt)
}
