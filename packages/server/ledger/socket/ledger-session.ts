import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import type { OnException } from '../../core/on-exception.ts'
import type { WorkerPeer } from '../../workers/channel/supervisor-channel.ts'
import { LEDGER_TOPIC, type Topic } from '../../workers/channel/topic.ts'
import type { Ledger, MeterStatus, ReserveRequest, Verdict } from '../ledger.ts'
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import {
  ACKNOWLEDGED,
  DEFINE_METERS,
  DEFINE_SUBJECT,
  EXTEND,
  FORGET_DEFINITIONS,
  HEALTH,
  MAX_DEFINITIONS,
  NO_STATUSES,
  READ,
  RELEASE,
  RESERVE,
  SETTLE,
  STATUSES,
  THREW,
} from './operations.ts'
import { writeStatuses, writeVerdict } from './results.ts'
import type { WaitingReservations } from './waiting-reservations.ts'

/** A ledger that several processes use through this one. */
export interface ServedLedger extends Ledger {
  /** `owner`: the name of the process whose request it is. */
  reserve(request: ReserveRequest, owner?: string): Verdict | Promise<Verdict>
}

export interface LedgerSessionOptions {
  /** Those of all sessions. */
  readonly reservations: WaitingReservations
  readonly onException: OnException
  readonly onClosed: () => void
}

/**
 * The supervisor's side of one connection: carries out what a worker asks, in the order of its messages. Reservations come after
 * everything that all workers sent until then.
 */
export class LedgerSession implements Topic {
  readonly #peer: WorkerPeer
  readonly #ledger: ServedLedger
  readonly #reservations: WaitingReservations
  readonly #onException: OnException
  readonly #onClosed: () => void
  readonly #writer = new ByteWriter()
  #meters: (readonly Meter[])[] = []
  #subjects: MeterSubject[] = []
  #health = ''
  /** True: reservations of this worker wait, whose verdicts go out with what was written before. */
  #hasWaiting = false

  constructor(
    peer: WorkerPeer,
    ledger: ServedLedger,
    { reservations, onException, onClosed }: LedgerSessionOptions,
  ) {
    this.#peer = peer
    this.#ledger = ledger
    this.#reservations = reservations
    this.#onException = onException
    this.#onClosed = onClosed
  }

  opened(): void {
    this.reportHealth()
  }

  receive(payload: Buffer): void {
    const reader = new ByteReader(payload)
    while (!reader.isAtEnd) {
      this.#run(reader)
      this.#writer.endOperation()
    }
    this.#writer.uint8(ACKNOWLEDGED)
    if (!this.#hasWaiting) this.#peer.schedule(LEDGER_TOPIC)
  }

  take(): Buffer | undefined {
    if (this.#writer.isEmpty) return undefined
    const frame = this.#writer.takeFrame()
    if (!this.#writer.isEmpty) this.#peer.schedule(LEDGER_TOPIC)
    return frame
  }

  closed(): void {
    this.#onClosed()
  }

  /** Sends the health of the ledger where it has changed since the last time. */
  reportHealth(): void {
    const health = JSON.stringify(this.#ledger.health())
    if (health === this.#health || !this.#peer.isOpen) return
    this.#health = health
    this.#writer.uint8(HEALTH)
    this.#writer.text(health)
    this.#peer.schedule(LEDGER_TOPIC)
  }

  #run(reader: ByteReader): void {
    const code = reader.uint8()
    switch (code) {
      case RESERVE:
        return this.#reserve(reader)
      case SETTLE:
        return this.#settle(reader)
      case RELEASE:
        return this.#release(reader.text())
      case EXTEND:
        return this.#extend(reader)
      case READ:
        return this.#read(reader)
      case DEFINE_METERS:
        return define(this.#meters, JSON.parse(reader.text()))
      case DEFINE_SUBJECT:
        return define(this.#subjects, JSON.parse(reader.text()))
      case FORGET_DEFINITIONS:
        this.#meters = []
        this.#subjects = []
        return
      default:
        throw new Error(`no operation of the ledger has the code ${code}`)
    }
  }

  #reserve(reader: ByteReader): void {
    const call = reader.uint32()
    const meters = getItem(this.#meters, reader.uint32())
    const subject = getItem(this.#subjects, reader.uint32())
    const arrivedAt = reader.double()
    const at = reader.double()
    const leaseMs = reader.double()
    const amounts = { tokens: reader.double(), nanoUsd: reader.double() }
    const id = reader.text()
    const request = { id, arrivedAt, at, meters, subject, amounts, leaseMs }
    this.#hasWaiting = true
    this.#reservations.add(id, () => this.#reserveNow(call, request))
  }

  #reserveNow(call: number, request: ReserveRequest): void {
    // A worker that is gone takes a call without an answer for refused.
    if (!this.#peer.isOpen) return
    this.#hasWaiting = false
    this.#peer.schedule(LEDGER_TOPIC)
    let verdict: Verdict | Promise<Verdict>
    try {
      assertAmount(request.amounts.tokens)
      assertAmount(request.amounts.nanoUsd)
      verdict = this.#ledger.reserve(request, this.#peer.worker)
    } catch (error) {
      return this.#writeLater(() => this.#writeThrown(call, error))
    }
    if (!(verdict instanceof Promise)) {
      const result = verdict
      return this.#writeLater(() => writeVerdict(call, result, this.#writer))
    }
    verdict.then(
      result => {
        if (this.#peer.isOpen) return this.#writeLater(() => writeVerdict(call, result, this.#writer))
        // The worker takes a call without an answer for refused.
        if (result.isAdmitted) this.#release(request.id)
      },
      error => this.#writeLater(() => this.#writeThrown(call, error)),
    )
  }

  #extend(reader: ByteReader): void {
    const call = reader.uint32()
    const at = reader.double()
    const leaseMs = reader.double()
    const amounts = { tokens: reader.double(), nanoUsd: reader.double() }
    const id = reader.text()
    let verdict: Verdict | Promise<Verdict>
    try {
      assertAmount(amounts.tokens)
      assertAmount(amounts.nanoUsd)
      verdict = this.#ledger.extend(id, amounts, at, leaseMs)
    } catch (error) {
      return this.#writeThrown(call, error)
    }
    if (!(verdict instanceof Promise)) return writeVerdict(call, verdict, this.#writer)
    verdict.then(
      result => this.#writeLater(() => writeVerdict(call, result, this.#writer)),
      error => this.#writeLater(() => this.#writeThrown(call, error)),
    )
  }

  #settle(reader: ByteReader): void {
    const requests = reader.uint8() === 0 ? 0 : 1
    const isSandbox = reader.uint8() === 1
    const tokens = reader.double()
    const nanoUsd = reader.double()
    const id = reader.text()
    this.#reservations.hurry(id)
    this.#end(() => {
      assertAmount(tokens)
      assertAmount(nanoUsd)
      return this.#ledger.settle(id, { requests, tokens, nanoUsd, isSandbox })
    })
  }

  #release(id: string): void {
    this.#reservations.hurry(id)
    this.#end(() => this.#ledger.release(id))
  }

  /** Settles or releases. The worker must not send it again if it throws, because it would throw again. */
  #end(end: () => void | Promise<void>): void {
    try {
      const ending = end()
      if (ending instanceof Promise) ending.catch(error => this.#onException(error, 'a worker’s settlement'))
    } catch (error) {
      this.#onException(error, 'a worker’s settlement')
    }
  }

  #read(reader: ByteReader): void {
    const call = reader.uint32()
    const meters = getItem(this.#meters, reader.uint32())
    const at = reader.double()
    this.#ledger.read(meters, at).then(
      statuses => this.#writeLater(() => this.#writeStatuses(call, statuses)),
      error => this.#writeLater(() => this.#writeThrown(call, error)),
    )
  }

  #writeStatuses(call: number, statuses: readonly MeterStatus[] | undefined): void {
    this.#writer.uint8(statuses === undefined ? NO_STATUSES : STATUSES)
    this.#writer.uint32(call)
    if (statuses !== undefined) writeStatuses(statuses, this.#writer)
  }

  #writeLater(write: () => void): void {
    if (!this.#peer.isOpen) return
    write()
    this.#writer.endOperation()
    this.#peer.schedule(LEDGER_TOPIC)
  }

  #writeThrown(call: number, error: unknown): void {
    this.#writer.uint8(THREW)
    this.#writer.uint32(call)
    this.#writer.text((error as Error).message)
  }
}

function define<T>(list: T[], item: T): void {
  if (list.length >= MAX_DEFINITIONS) throw new Error(`more than ${MAX_DEFINITIONS} definitions`)
  list.push(item)
}

function getItem<T>(list: readonly T[], number: number): T {
  const item = list[number]
  if (item === undefined) throw new Error(`nothing was defined with the number ${number}`)
  return item
}

/** A counter would keep an amount that is not a number for good. */
function assertAmount(amount: number): void {
  if (!Number.isFinite(amount) || amount < 0) {
    throw new Error(`an amount must be a number of at least 0; got ${amount}`)
  }
}
