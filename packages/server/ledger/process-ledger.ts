import type { Meter, MeterSubject, Metric } from '../core/meter.ts'
import { ShortLivedMap } from '../core/short-lived-map.ts'
import { amountOf, usedOf } from './amounts.ts'
import { CounterBook, type Row } from './counter-book.ts'
import type { Entry } from './counters.ts'
import type {
  AdmitRequest,
  Amounts,
  Ledger,
  LedgerOptions,
  Refused,
  Standing,
  Used,
  Verdict,
} from './ledger.ts'

/** What a running request holds of one meter. */
interface Share {
  readonly meter: Meter
  readonly row: Row
  /** Of a rolling meter. */
  readonly entry: Entry | undefined
}

interface Hold {
  readonly subject: MeterSubject
  readonly at: number
  readonly shares: readonly Share[]
  /** Counters that are younger know nothing of it. */
  readonly sequence: number
  amounts: Amounts
  leaseEnd: number
  /** Its lease ran out: what it held is settled. */
  isSwept: boolean
}

/** A swept hold is remembered so long, for the settle that corrects it. Milliseconds. */
const SWEPT_KEPT_MS = 3_600_000

/** The ledger of a house of one process. Synchronous wherever the counters are there. */
export class ProcessLedger implements Ledger {
  readonly owner: string
  readonly #book: CounterBook
  readonly #holds = new ShortLivedMap<Hold>()

  constructor(options: LedgerOptions & { readonly openedAt: number }) {
    this.owner = options.owner
    this.#book = new CounterBook(options)
  }

  admit(request: AdmitRequest): Verdict | Promise<Verdict> {
    const { meters, at } = request
    const rows = this.#book.find(meters, at)
    return rows === undefined ? this.#admitSeeded(request) : this.#admit(request, rows, at)
  }

  async #admitSeeded(request: AdmitRequest): Promise<Verdict> {
    try {
      const rows = await this.#book.get(request.meters, request.at)
      return this.#admit(request, rows, request.at)
    } catch {
      return { isAdmitted: false, unavailable: 'what was used so far could not be read' }
    }
  }

  /** From here to the hold nothing else runs: that is the whole of its atomicity. */
  #admit(request: AdmitRequest, rows: readonly Row[], at: number): Verdict {
    if (this.#holds.has(request.id)) throw new Error('a request is admitted once')
    const { meters, hold: amounts } = request
    let refused: Refused | undefined
    for (let index = 0; index < meters.length; index++) {
      const meter = meters[index] as Meter
      const row = rows[index] as Row
      if (row.counter.kind === 'rolling') row.counter.advance(at)
      const wanted = amountOf(meter.metric, amounts)
      if (row.counter.settled + row.counter.held + wanted <= meter.limit) continue
      const no = toRefused(meter, row, wanted, at)
      if (refused === undefined || waits(no) > waits(refused)) refused = no
    }
    if (refused !== undefined) return { isAdmitted: false, refused }
    const shares: Share[] = []
    const standings: Standing[] = []
    for (let index = 0; index < meters.length; index++) {
      const meter = meters[index] as Meter
      const row = rows[index] as Row
      shares.push({ meter, row, entry: addHeld(row, amountOf(meter.metric, amounts), at) })
      standings.push(toStanding(meter, row))
    }
    this.#holds.set(request.id, {
      subject: request.subject,
      at,
      shares,
      sequence: this.#book.sequence,
      amounts,
      leaseEnd: at + request.leaseMs,
      isSwept: false,
    })
    return { isAdmitted: true, standings }
  }

  extend(id: string, amounts: Amounts, at: number, leaseMs: number): Verdict {
    const hold = this.#holds.get(id)
    if (hold === undefined) return { isAdmitted: false, unavailable: 'the hold has ended' }
    if (hold.isSwept) this.#revive(hold)
    hold.leaseEnd = at + leaseMs
    let refused: Refused | undefined
    for (const { meter, row } of hold.shares) {
      const wanted = growthOf(meter.metric, hold.amounts, amounts)
      if (row.counter.kind === 'rolling') row.counter.advance(at)
      if (wanted <= 0 || row.counter.settled + row.counter.held + wanted <= meter.limit) continue
      const no = toRefused(meter, row, wanted, at)
      if (refused === undefined || waits(no) > waits(refused)) refused = no
    }
    if (refused !== undefined) return { isAdmitted: false, refused }
    for (const { meter, row, entry } of hold.shares) {
      const delta = growthOf(meter.metric, hold.amounts, amounts)
      if (delta === 0) continue
      if (row.counter.kind === 'rolling') row.counter.change(entry as Entry, delta)
      else row.counter.held += delta
    }
    hold.amounts = amounts
    return { isAdmitted: true, standings: hold.shares.map(({ meter, row }) => toStanding(meter, row)) }
  }

  settle(id: string, used: Used): void {
    const hold = this.#holds.get(id)
    if (hold === undefined) return
    this.#holds.delete(id)
    for (const { meter, row, entry } of hold.shares) {
      const held = amountOf(meter.metric, hold.amounts)
      const amount = usedOf(meter, used)
      const { counter } = row
      if (counter.kind === 'rolling') {
        // A rate counts what was admitted, whatever came of it; of tokens, those that were used.
        if (meter.metric === 'tokens') counter.change(entry as Entry, amount - held)
        counter.settle(entry as Entry)
      } else if (hold.isSwept) {
        if (meter.metric !== 'in_flight') counter.settled += amount - held
      } else {
        counter.held -= held
        counter.settled += amount
      }
      this.#book.noteCrossings(meter, row)
    }
    this.#book.addToYounger(hold.sequence, { id, at: hold.at, subject: hold.subject, used })
  }

  /** Its counters end with it: those of the next process are seeded with what the killed one left. */
  async settleFormer(): Promise<void> {}

  release(id: string): void {
    const hold = this.#holds.get(id)
    if (hold === undefined) return
    this.#holds.delete(id)
    for (const { meter, row, entry } of hold.shares) {
      const held = amountOf(meter.metric, hold.amounts)
      if (row.counter.kind === 'rolling') row.counter.change(entry as Entry, -held)
      else if (!hold.isSwept) row.counter.held -= held
      else if (meter.metric !== 'in_flight') row.counter.settled -= held
    }
  }

  async read(meters: readonly Meter[], at: number): Promise<readonly Standing[] | undefined> {
    try {
      const rows = await this.#book.get(meters, at)
      return meters.map((meter, index) => {
        const row = rows[index] as Row
        if (row.counter.kind === 'rolling') row.counter.advance(at)
        return toStanding(meter, row)
      })
    } catch {
      return undefined
    }
  }

  sweep(at: number): number {
    let swept = 0
    let oldest = this.#book.sequence
    const awaited = new Set<Row>()
    for (const [id, hold] of this.#holds.entries()) {
      if (hold.isSwept) {
        if (hold.leaseEnd + SWEPT_KEPT_MS < at) this.#holds.delete(id)
      } else if (hold.leaseEnd < at) {
        this.#sweepOne(hold)
        swept++
      }
      oldest = Math.min(oldest, hold.sequence)
      // It may come back to life: its counters have to be the ones that others use then.
      if (hold.isSwept) for (const { row } of hold.shares) awaited.add(row)
    }
    this.#book.prune(at, oldest, awaited)
    return swept
  }

  /** How many counters it keeps. */
  get rows(): number {
    return this.#book.size
  }

  /** Requests that hold something now. */
  get holdCount(): number {
    return this.#holds.size
  }

  health(): { isWhole: boolean; reasons: readonly string[] } {
    return { isWhole: true, reasons: [] }
  }

  async close(): Promise<void> {}

  #sweepOne(hold: Hold): void {
    hold.isSwept = true
    for (const { meter, row, entry } of hold.shares) {
      if (row.counter.kind === 'rolling') row.counter.settle(entry as Entry)
      else {
        const held = amountOf(meter.metric, hold.amounts)
        row.counter.held -= held
        if (meter.metric !== 'in_flight') row.counter.settled += held
      }
    }
  }

  /** The request was not dead after all. */
  #revive(hold: Hold): void {
    hold.isSwept = false
    for (const { meter, row } of hold.shares) {
      if (row.counter.kind === 'rolling') continue
      const held = amountOf(meter.metric, hold.amounts)
      row.counter.held += held
      if (meter.metric !== 'in_flight') row.counter.settled -= held
    }
  }
}

function growthOf(metric: Metric, before: Amounts, after: Amounts): number {
  if (metric === 'tokens') return after.tokens - before.tokens
  return metric === 'nano_usd' ? after.nanoUsd - before.nanoUsd : 0
}

function addHeld({ counter }: Row, amount: number, at: number): Entry | undefined {
  if (counter.kind === 'rolling') return counter.hold(at, amount)
  counter.held += amount
  return undefined
}

function toStanding(meter: Meter, { counter }: Row): Standing {
  return { meter, settled: counter.settled, held: counter.held, resetAt: resetOf(meter, counter) }
}

function resetOf(meter: Meter, counter: Row['counter']): number | null {
  if (counter.kind === 'rolling') return counter.resetAt()
  return meter.kind === 'span' ? meter.end : null
}

function toRefused(meter: Meter, row: Row, wanted: number, at: number): Refused {
  const { counter } = row
  const standing = toStanding(meter, row)
  const over = counter.settled + counter.held + wanted - meter.limit
  if (wanted > meter.limit) return { ...standing, wanted, retryAt: null }
  if (counter.kind === 'rolling') return { ...standing, wanted, retryAt: counter.freedAt(over) ?? at }
  return { ...standing, wanted, retryAt: standing.resetAt }
}

/** For the order of refusals: a slot that may be free any moment is the shortest wait, one that never comes the longest. */
function waits({ meter, retryAt }: Refused): number {
  if (meter.metric === 'in_flight') return 0
  return retryAt ?? Number.POSITIVE_INFINITY
}
