import type { Meter } from '../../core/limits/meter.ts'
import type { MeteredUsage } from '../../core/limits/metered-usage.ts'
import { ShortLivedMap } from '../../core/short-lived-map.ts'
import { LEDGER_TOPIC, type Topic } from '../../workers/channel/topic.ts'
import type { TopicChannel } from '../../workers/channel/worker-channel.ts'
import type { Amounts, Ledger, MeterStatus, RecoveredSettlement, ReserveRequest, Verdict } from '../ledger.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { type Call, Calls } from './calls.ts'
import { Definitions } from './definitions.ts'
import { type Ending, Endings } from './endings.ts'
import { grows, type LocalReservation } from './local-reservation.ts'
import {
  ACKNOWLEDGED,
  ADMITTED,
  EXTEND,
  HEALTH,
  NO_STATUSES,
  READ,
  REFUSED,
  RELEASE,
  RESERVE,
  SETTLE,
  STATUSES,
  THREW,
  UNAVAILABLE,
} from './operations.ts'
import { readRefusal, readStatuses } from './results.ts'

export interface SocketLedgerOptions {
  /** Identifies this worker. */
  readonly owner: string
  readonly channel: TopicChannel
}

/** A message of this size is sent although another one is under way. */
const FULL_MESSAGE_BYTES = 65_536

const ENDED_VERDICT: Verdict = { isAdmitted: false, unavailable: 'the reservation has ended' }

/**
 * The ledger of a gateway worker: a ledger in the supervisor, asked over the channel. Operations of concurrent requests
 * share messages. With none under way, one is sent at the end of the tick of its first operation; during one, calls are
 * collected until it is acknowledged or a settlement is sent. While the supervisor is unreachable, verdicts are `unavailable`, and a running
 * request keeps what it has reserved.
 */
export class SocketLedger implements Ledger, Topic {
  readonly owner: string
  readonly #channel: TopicChannel
  readonly #writer = new ByteWriter()
  readonly #definitions = new Definitions()
  readonly #calls = new Calls()
  readonly #endings = new Endings()
  readonly #reservations = new ShortLivedMap<LocalReservation>()
  #health: { readonly isHealthy: boolean; readonly reasons: readonly string[] } | undefined

  constructor({ owner, channel }: SocketLedgerOptions) {
    this.owner = owner
    this.#channel = channel
    channel.setTopic(LEDGER_TOPIC, this)
  }

  reserve(request: ReserveRequest): Verdict | Promise<Verdict> {
    const { id, arrivedAt, at, meters, subject, amounts, leaseMs } = request
    if (this.#reservations.has(id)) throw new Error(`request ${id} has a reservation already`)
    if (!this.#channel.isOpen) return this.#unavailable()
    const writer = this.#writer
    this.#definitions.makeRoom(writer)
    const metersNumber = this.#definitions.numberOfMeters(meters, writer)
    const subjectNumber = this.#definitions.numberOfSubject(subject, writer)
    return new Promise((resolve, reject) => {
      const call = this.#calls.add({ kind: 'reserve', request, resolve, reject })
      writer.uint8(RESERVE)
      writer.uint32(call)
      writer.uint32(metersNumber)
      writer.uint32(subjectNumber)
      writer.double(arrivedAt)
      writer.double(at)
      writer.double(leaseMs)
      writer.double(amounts.tokens)
      writer.double(amounts.nanoUsd)
      writer.text(id)
      this.#schedule()
    })
  }

  extend(id: string, amounts: Amounts, at: number, leaseMs: number): Verdict | Promise<Verdict> {
    const reservation = this.#reservations.get(id)
    if (reservation === undefined) return ENDED_VERDICT
    if (!this.#channel.isOpen) return this.#extendLocally(reservation, amounts)
    const writer = this.#writer
    return new Promise((resolve, reject) => {
      const call = this.#calls.add({ kind: 'extend', reservation, amounts, resolve, reject })
      writer.uint8(EXTEND)
      writer.uint32(call)
      writer.double(at)
      writer.double(leaseMs)
      writer.double(amounts.tokens)
      writer.double(amounts.nanoUsd)
      writer.text(id)
      this.#schedule()
    })
  }

  settle(id: string, usage: MeteredUsage): void | Promise<void> {
    if (!this.#reservations.delete(id)) return
    return this.#end({ id, usage })
  }

  release(id: string): void | Promise<void> {
    if (!this.#reservations.delete(id)) return
    return this.#end({ id, usage: undefined })
  }

  /** The supervisor replays the journals of killed workers, so a worker settles only what it is given. */
  async settleRecovered(settlements: readonly RecoveredSettlement[]): Promise<void> {
    await Promise.all(settlements.map(({ id, usage }) => this.#end({ id, usage })))
  }

  read(meters: readonly Meter[], at: number): Promise<readonly MeterStatus[] | undefined> {
    if (!this.#channel.isOpen) return Promise.resolve(undefined)
    const writer = this.#writer
    this.#definitions.makeRoom(writer)
    const number = this.#definitions.numberOfMeters(meters, writer)
    return new Promise((resolve, reject) => {
      const call = this.#calls.add({ kind: 'read', meters, resolve, reject })
      writer.uint8(READ)
      writer.uint32(call)
      writer.uint32(number)
      writer.double(at)
      this.#schedule()
    })
  }

  /** Expires none: the supervisor does, once for all workers. */
  expire(): number {
    return 0
  }

  health(): { isHealthy: boolean; reasons: readonly string[] } {
    if (!this.#channel.isOpen) return { isHealthy: false, reasons: [this.#channel.reason] }
    return this.#health ?? { isHealthy: false, reasons: ['the supervisor has not said yet how it counts'] }
  }

  /** Number of requests with a reservation of this worker. */
  get reservationCount(): number {
    return this.#reservations.size
  }

  /** Resolves once the supervisor has every settlement that was asked for. */
  async close(): Promise<void> {
    if (this.#channel.isOpen) await this.#endings.whenDone()
  }

  opened(): void {
    for (const ending of this.#endings.takeUndelivered()) void this.#end(ending)
  }

  take(): Buffer | undefined {
    if (this.#writer.isEmpty) return undefined
    const frame = this.#writer.takeFrame()
    // The endings may be in any of the frames that are left, so they wait for the last one's acknowledgement.
    this.#endings.noteSent({ isLast: this.#writer.isEmpty })
    if (!this.#writer.isEmpty) this.#channel.schedule(LEDGER_TOPIC)
    return frame
  }

  receive(payload: Buffer): void {
    const reader = new ByteReader(payload)
    while (!reader.isAtEnd) this.#readResult(reader)
    if (!this.#writer.isEmpty) this.#schedule()
  }

  closed(): void {
    // What was not sent is not sent any more: each of its calls ends here.
    this.#writer.clear()
    this.#definitions.clear()
    this.#endings.noteLost()
    this.#health = undefined
    for (const call of this.#calls.takeAll()) this.#giveUp(call)
  }

  /** Ends a call whose result will not come. */
  #giveUp(call: Call): void {
    if (call.kind === 'read') return call.resolve(undefined)
    if (call.kind === 'extend') return call.resolve(this.#extendLocally(call.reservation, call.amounts))
    // The supervisor may have admitted it.
    this.#endings.keep({ id: call.request.id, usage: undefined })
    call.resolve(this.#unavailable())
  }

  #end(ending: Ending): void | Promise<void> {
    if (!this.#channel.isOpen) return this.#endings.keep(ending)
    const { id, usage } = ending
    const writer = this.#writer
    if (usage === undefined) writer.uint8(RELEASE)
    else {
      writer.uint8(SETTLE)
      writer.uint8(usage.requests)
      writer.uint8(usage.isSandbox ? 1 : 0)
      writer.double(usage.tokens)
      writer.double(usage.nanoUsd)
    }
    writer.text(id)
    writer.endOperation()
    const done = this.#endings.add(ending)
    // Without waiting for an acknowledgement: the caller's next request may come by another worker.
    this.#channel.schedule(LEDGER_TOPIC)
    return done
  }

  #schedule(): void {
    this.#writer.endOperation()
    if (this.#endings.messagesInFlight > 0 && this.#writer.length < FULL_MESSAGE_BYTES) return
    this.#channel.schedule(LEDGER_TOPIC)
  }

  #readResult(reader: ByteReader): void {
    const code = reader.uint8()
    if (code === ACKNOWLEDGED) return this.#endings.noteAcknowledged()
    if (code === HEALTH) {
      this.#health = JSON.parse(reader.text())
      return
    }
    const call = this.#calls.take(reader.uint32())
    if (code === THREW) return call.reject(new Error(reader.text()))
    if (call.kind === 'reserve' || call.kind === 'extend') return this.#readVerdict(code, call, reader)
    if (call.kind === 'read' && code === STATUSES) return call.resolve(readStatuses(call.meters, reader))
    if (call.kind === 'read' && code === NO_STATUSES) return call.resolve(undefined)
    throw new Error(`a ${call.kind} has no result of the code ${code}`)
  }

  #readVerdict(code: number, call: Call & { kind: 'reserve' | 'extend' }, reader: ByteReader): void {
    const { meters } = call.kind === 'reserve' ? call.request : call.reservation
    if (code === UNAVAILABLE) return call.resolve({ isAdmitted: false, unavailable: reader.text() })
    if (code === REFUSED) return call.resolve({ isAdmitted: false, refusal: readRefusal(meters, reader) })
    if (code !== ADMITTED) throw new Error(`a verdict has no code ${code}`)
    const statuses = readStatuses(meters, reader)
    if (call.kind === 'reserve') {
      const { id, amounts } = call.request
      this.#reservations.set(id, { id, meters, amounts, statuses })
    } else {
      call.reservation.amounts = call.amounts
      call.reservation.statuses = statuses
    }
    call.resolve({ isAdmitted: true, statuses })
  }

  /** While the supervisor is unreachable a running request keeps what it has reserved, and gets no more. */
  #extendLocally(reservation: LocalReservation, amounts: Amounts): Verdict {
    if (grows(reservation, amounts)) return this.#unavailable()
    return { isAdmitted: true, statuses: reservation.statuses }
  }

  #unavailable(): Verdict {
    return { isAdmitted: false, unavailable: this.#channel.reason }
  }
}
