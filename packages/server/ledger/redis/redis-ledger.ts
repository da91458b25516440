import type { Meter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import { LogPace } from '../../core/log-pace.ts'
import type {
  Amounts,
  Ledger,
  LedgerOptions,
  MeterStatus,
  RecoveredSettlement,
  ReserveRequest,
  Verdict,
} from '../ledger.ts'
import { growth, reservedAmount, ruleOf, settledAmount } from '../rules/counting-rules.ts'
import { reportCrossings } from '../rules/thresholds.ts'
import type { Reply } from './batch.ts'
import { Batcher } from './batcher.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { sendInSlices } from './in-slices.ts'
import { reservationsKey } from './keys.ts'
import { LeaseExpirer } from './lease-expirer.ts'
import { type LocalReservation, restoreArgs } from './local-reservation.ts'
import { RecoveredSettlements } from './recovered-settlements.ts'
import {
  ADMITTED,
  ENDED,
  MISSING_COUNTERS,
  RUNNING_ALREADY,
  readMissing,
  readRefusal,
  readStatuses,
} from './replies.ts'
import { ScriptClock, type ScriptClockOptions } from './script-clock.ts'
import { MAX_ROUNDS, RedisSeeder } from './seeder.ts'
import { StatusReader } from './status-reader.ts'
import { UndeliveredEndings } from './undelivered-endings.ts'

export interface RedisLedgerOptions
  extends LedgerOptions,
    ScriptClockOptions,
    Pick<
      ConnectionOptions,
      'url' | 'log' | 'countProcesses' | 'drain' | 'joinTimeoutMs' | 'heartbeatMs' | 'commandTimeoutMs'
    > {
  /** Whether a running request may reserve more while Redis is unreachable (RIDEAU_LIMITS_FAILOPEN). */
  readonly isFailOpen?: boolean
  /** How many counters an organization may have on the server. Default: what seeder.ts keeps. */
  readonly maxCounters?: number
}

/**
 * The ledger of several gateway processes. Every decision is one script on Redis or Valkey, in one round trip. While the
 * counters cannot be trusted (see Connection), verdicts are `unavailable`; no caller waits longer than one command's timeout.
 */
export class RedisLedger implements Ledger {
  readonly owner: string
  readonly #options: RedisLedgerOptions
  readonly #connection: Connection
  readonly #batcher: Batcher
  readonly #seeder: RedisSeeder
  readonly #reader: StatusReader
  readonly #leases: LeaseExpirer
  readonly #clock: ScriptClock
  readonly #reservations = new Map<string, LocalReservation>()
  readonly #undelivered: UndeliveredEndings
  readonly #recovered = new RecoveredSettlements<KnownSettlement>(known => this.#sendRecovered(known))

  constructor(options: RedisLedgerOptions) {
    this.owner = options.owner
    this.#options = options
    this.#connection = new Connection({
      ...options,
      restore: run => this.#restore(run),
      onOpen: run => {
        // What has come since: before the run is counted on, requests are admitted alone.
        this.#restore(run).catch((error: unknown) => this.#connection.reportFailure(error))
        this.#recovered.sendAll()
      },
    })
    this.#undelivered = new UndeliveredEndings(this.#connection)
    const clock = new ScriptClock(options)
    this.#clock = clock
    const { owner, seeds, onThresholdCrossed, maxCounters, log } = options
    const connection = this.#connection
    this.#batcher = new Batcher({ commands: connection.commands, owner, clock })
    const pace = new LogPace()
    const onFailure = (error: unknown): void => {
      if (pace.isDue(performance.now())) log(`new counters of limits could not be created: ${String(error)}`)
    }
    this.#seeder = new RedisSeeder({ connection, seeds, onThresholdCrossed, clock, maxCounters, onFailure })
    this.#reader = new StatusReader({ connection, seeder: this.#seeder, clock })
    this.#leases = new LeaseExpirer(connection, clock)
  }

  /** `owner`: the name of the worker whose request it is. */
  async reserve(request: ReserveRequest, owner: string = this.owner): Promise<Verdict> {
    const { id, at, meters, subject, amounts } = request
    if (this.#reservations.has(id)) throw new Error(`request ${id} has a reservation already`)
    this.#clock.givenTime = at
    this.#leases.noteRequest(subject.orgId, at)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { run } = this.#connection
      if (run === undefined) return this.#unavailable()
      const key = reservationsKey(run, subject.orgId)
      let reply: Reply
      try {
        reply = await this.#batcher.reserve(key, request)
      } catch (error) {
        this.#connection.reportFailure(error)
        // The server may still execute it. It is withdrawn as soon as the server answers, unless `adopt` follows.
        void this.#undelivered.send(id, run, () => this.#batcher.withdraw(key, id))
        return this.#unavailable()
      }
      const { now, values } = reply
      const [outcome] = values
      if (outcome === ADMITTED) return this.#admit(request, owner, run, reply)
      if (outcome === RUNNING_ALREADY) throw new Error(`request ${id} has a reservation already`)
      if (outcome === ENDED) return { isAdmitted: false, unavailable: 'the request was released before' }
      if (outcome !== MISSING_COUNTERS) {
        const wantedOf = (meter: Meter): number => reservedAmount(ruleOf(meter), amounts)
        return readRefusal(meters, values, wantedOf, this.#clock.shift(now))
      }
      if (!(await this.#seeder.seed(run, readMissing(meters, values), at))) return this.#unavailable()
    }
    return this.#unavailable()
  }

  #admit(request: ReserveRequest, owner: string, run: string, { now, values }: Reply): Verdict {
    const { id, subject, arrivedAt, meters, amounts, leaseMs } = request
    const statuses = readStatuses(meters, values, this.#clock.shift(now))
    const reservation = { id, owner, subject, arrivedAt, meters, admittedAt: now, amounts, leaseMs, statuses }
    this.#reservations.set(id, { ...reservation, run, isConfirmed: true })
    return { isAdmitted: true, statuses }
  }

  async extend(id: string, amounts: Amounts, at: number, leaseMs: number): Promise<Verdict> {
    const reservation = this.#reservations.get(id)
    if (reservation === undefined) return ENDED_VERDICT
    this.#clock.givenTime = at
    const { run } = this.#connection
    if (run === undefined || run !== reservation.run) {
      return this.#extendLocally(reservation, amounts, leaseMs)
    }
    const { meters, subject } = reservation
    const key = reservationsKey(run, subject.orgId)
    const extend = (): Promise<Reply> => this.#batcher.extend(key, id, amounts, leaseMs, meters)
    let reply: Reply
    try {
      reply = await extend()
      if (reply.values[0] === MISSING_COUNTERS) {
        await this.#seeder.seed(run, readMissing(meters, reply.values), at)
        reply = await extend()
      }
    } catch (error) {
      this.#connection.reportFailure(error)
      return this.#extendLocally(reservation, amounts, leaseMs)
    }
    const { now, values } = reply
    const [outcome] = values
    if (outcome === ENDED) return ENDED_VERDICT
    if (outcome === MISSING_COUNTERS) return this.#unavailable()
    reservation.leaseMs = leaseMs
    if (outcome !== ADMITTED) {
      const wantedOf = (meter: Meter): number => growth(ruleOf(meter), reservation.amounts, amounts)
      return readRefusal(meters, values, wantedOf, this.#clock.shift(now))
    }
    reservation.amounts = amounts
    reservation.statuses = readStatuses(meters, values, this.#clock.shift(now))
    return { isAdmitted: true, statuses: reservation.statuses }
  }

  /** During an outage a running request keeps what it has reserved. This process restores it when the server is back. */
  #extendLocally(reservation: LocalReservation, amounts: Amounts, leaseMs: number): Verdict {
    const grows = reservation.meters.some(meter => growth(ruleOf(meter), reservation.amounts, amounts) > 0)
    if (grows && this.#options.isFailOpen !== true) return this.#unavailable()
    reservation.leaseMs = leaseMs
    if (grows) reservation.amounts = amounts
    return { isAdmitted: true, statuses: reservation.statuses }
  }

  settle(id: string, usage: MeteredUsage): void | Promise<void> {
    const reservation = this.#takeReservation(id)
    if (reservation === undefined) return
    const run = this.#runOf(reservation)
    if (run === undefined) return
    return this.#undelivered.send(id, run, () => this.#settleIn(run, reservation, usage))
  }

  /** Returns the run in which a reservation that has ended is settled. */
  #runOf(reservation: LocalReservation): string | undefined {
    // If no server knows it: a later run is seeded with it, but the last one, should it continue, has to learn of it.
    return reservation.run ?? this.#connection.lastRun
  }

  async #settleIn(run: string, reservation: LocalReservation, usage: MeteredUsage): Promise<void> {
    const { id, subject } = reservation
    if (!isKnownIn(run, reservation)) await this.#restoreOne(reservation, run)
    const { values } = await this.#batcher.settle(reservationsKey(run, subject.orgId), id, usage)
    this.#noteSettled(reservation, usage, values)
  }

  /** Those of workers were admitted by this process. A run that begins from now on is seeded with them. */
  settleRecovered(settlements: readonly RecoveredSettlement[]): Promise<void> {
    const known = settlements.map(settlement => {
      const reservation = this.#takeReservation(settlement.id)
      return { ...settlement, reservation, endedIn: reservation && this.#runOf(reservation) }
    })
    return this.#recovered.add(known)
  }

  async #sendRecovered({ id, orgId, usage, reservation, endedIn }: KnownSettlement): Promise<boolean> {
    const { run } = this.#connection
    if (run === undefined) return false
    try {
      if (reservation !== undefined && endedIn === run) await this.#settleIn(run, reservation, usage)
      else await this.#batcher.settle(reservationsKey(run, orgId), id, usage)
      return true
    } catch (error) {
      this.#connection.reportFailure(error)
      return false
    }
  }

  release(id: string): void | Promise<void> {
    const reservation = this.#takeReservation(id)
    if (reservation?.run === undefined) return
    const { run, subject } = reservation
    return this.#undelivered.send(id, run, () =>
      this.#batcher.release(reservationsKey(run, subject.orgId), id),
    )
  }

  /** Takes over a request that was admitted during an outage. It counts whatever the limits say, as soon as the server is back. */
  adopt(request: ReserveRequest, owner: string, statuses: readonly MeterStatus[]): void {
    const { id, subject, arrivedAt, at, meters, amounts, leaseMs } = request
    const reservation = {
      id,
      owner,
      subject,
      arrivedAt,
      meters,
      admittedAt: at,
      run: undefined,
      isConfirmed: false,
      amounts,
      leaseMs,
      statuses,
    }
    this.#reservations.set(id, reservation)
    // Whether the server has executed the reserve that failed or not: the request counts there.
    this.#undelivered.forget(id)
    const { run } = this.#connection
    if (run === undefined) return
    this.#restoreOne(reservation, run).catch((error: unknown) => this.#connection.reportFailure(error))
  }

  /** Changes what an adopted request reserves. */
  adoptAmounts(id: string, amounts: Amounts): void {
    const reservation = this.#reservations.get(id)
    if (reservation !== undefined) reservation.amounts = amounts
  }

  read(meters: readonly Meter[], at: number): Promise<readonly MeterStatus[] | undefined> {
    this.#clock.givenTime = at
    return this.#reader.read(meters, at)
  }

  expire(at: number): Promise<number> {
    this.#clock.givenTime = at
    return this.#leases.expire(at)
  }

  /**
   * Forgets what is left of a worker that was killed, so that no other run gets it. Where the server knows it, its lease runs out.
   * Call it once what the worker's journal says was settled. Returns how many reservations there were.
   */
  expireOwner(owner: string): number {
    let forgotten = 0
    for (const [id, reservation] of this.#reservations) {
      if (reservation.owner !== owner) continue
      this.#reservations.delete(id)
      forgotten++
    }
    return forgotten
  }

  health(): { isHealthy: boolean; reasons: readonly string[] } {
    return this.#connection.run === undefined
      ? { isHealthy: false, reasons: [this.#connection.reason] }
      : { isHealthy: true, reasons: [] }
  }

  /** Resolves when counting has begun, at the latest after `timeoutMs`. */
  whenOpen(timeoutMs: number): Promise<void> {
    return this.#connection.whenOpen(timeoutMs)
  }

  /** Number of requests with a reservation of this process. */
  get reservationCount(): number {
    return this.#reservations.size
  }

  async close(): Promise<void> {
    const { run } = this.#connection
    if (run !== undefined) await this.#undelivered.sendAll(run).catch(() => {})
    this.#connection.close()
  }

  #takeReservation(id: string): LocalReservation | undefined {
    const reservation = this.#reservations.get(id)
    this.#reservations.delete(id)
    return reservation
  }

  #unavailable(): Verdict {
    const { run, reason } = this.#connection
    return {
      isAdmitted: false,
      unavailable: run === undefined ? reason : 'new counters could not be created',
    }
  }

  async #restore(run: string): Promise<void> {
    await this.#undelivered.sendAll(run)
    const unknown = [...this.#reservations.values()].filter(reservation => !isKnownIn(run, reservation))
    await sendInSlices(unknown, async reservation => {
      const isRunning = this.#reservations.get(reservation.id) === reservation
      if (isRunning && !isKnownIn(run, reservation)) await this.#restoreOne(reservation, run)
    })
  }

  async #restoreOne(reservation: LocalReservation, run: string): Promise<void> {
    const key = reservationsKey(run, reservation.subject.orgId)
    // Set first, so that a request that ends meanwhile is settled in this run.
    reservation.run = run
    reservation.isConfirmed = false
    await this.#connection.commands.restoreReservation(
      key,
      this.#clock.time(),
      ...restoreArgs(reservation, this.owner),
    )
    if (reservation.run === run) reservation.isConfirmed = true
  }

  /** `settled`: the settled amount of each meter, this request included. */
  #noteSettled(reservation: LocalReservation, usage: MeteredUsage, settled: readonly number[]): void {
    const { onThresholdCrossed } = this.#options
    for (const [index, meter] of reservation.meters.entries()) {
      const after = settled[index]
      if (after === undefined || meter.alertThresholds.length === 0) continue
      reportCrossings(meter, after - settledAmount(ruleOf(meter), meter, usage), after, onThresholdCrossed)
    }
  }
}

/** A recovered settlement, and what this process knows of its request. */
interface KnownSettlement extends RecoveredSettlement {
  readonly reservation: LocalReservation | undefined
  /** The run in which it is settled if it is known; undefined: any. */
  readonly endedIn: string | undefined
}

function isKnownIn(run: string, reservation: LocalReservation): boolean {
  return reservation.run === run && reservation.isConfirmed
}

const ENDED_VERDICT: Verdict = { isAdmitted: false, unavailable: 'the reservation has ended' }
