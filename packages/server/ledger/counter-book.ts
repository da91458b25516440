import type { Meter, MeterSubject, Seed } from '../core/meter.ts'
import { concerns, usedOf } from './amounts.ts'
import { type Counter, createCounter } from './counters.ts'
import type { LedgerOptions, Used } from './ledger.ts'

/** A counter in the book. */
export interface Row {
  /** The meter that it was opened for; limits are those of each request. */
  readonly meter: Meter
  readonly counter: Counter
  /** Counts the rows of this book: a request that was admitted before this one was opened does not hold of it. */
  readonly sequence: number
  /** Seeded. Until then nothing is held of it. */
  isReady: boolean
  /** What settled while it was being seeded. */
  pending: Ended[]
  /** Up to which amount alerts were raised. */
  alerted: number
  /** Since the last pruning. */
  isTouched: boolean
}

/** A request that has ended. */
export interface Ended {
  readonly id: string
  readonly at: number
  readonly subject: MeterSubject
  readonly used: Used
}

/** More than these are forgotten where they hold nothing; whoever comes back is seeded again. */
const MAX_ROWS = 300_000

/** A window that ended is kept so long: the next one then begins without a seed. Milliseconds. */
const ENDED_KEPT_MS = 3_600_000

interface CounterBookOptions extends LedgerOptions {
  /** Unix milliseconds: from then on every request of the house went through this book. */
  readonly openedAt: number
}

/** The counters of one process: opened by the first request that a meter concerns, seeded in batches, pruned by a clock. */
export class CounterBook {
  readonly #options: CounterBookOptions
  readonly #rows = new Map<string, Row>()
  /** The newest row of each series of calendar windows. */
  readonly #series = new Map<string, Row>()
  /** In the order of their opening; those that all running requests know of are dropped. */
  #young: Row[] = []
  #waiting: Row[] = []
  #seeding: Promise<void> | undefined
  sequence = 0

  constructor(options: CounterBookOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#rows.size
  }

  /** The rows of these meters; undefined: some has to be seeded first. */
  find(meters: readonly Meter[], at: number): Row[] | undefined {
    const rows: Row[] = []
    for (const meter of meters) {
      const row = this.#rows.get(meter.key) ?? this.#openKnown(meter, at)
      if (row === undefined || !row.isReady) return undefined
      row.isTouched = true
      rows.push(row)
    }
    return rows
  }

  /** The rows of these meters, seeded where they are new. Rejects where that cannot be done. */
  async get(meters: readonly Meter[], at: number): Promise<Row[]> {
    for (;;) {
      const rows = this.find(meters, at)
      if (rows !== undefined) return rows
      for (const meter of meters) {
        if (!this.#rows.has(meter.key)) this.#waiting.push(this.#open(meter, false))
      }
      await this.#seed(at)
    }
  }

  /** A request that ended counts also where it could not hold, since the counter was not there yet. */
  addToYounger(sequence: number, ended: Ended): void {
    for (let index = this.#young.length - 1; index >= 0; index--) {
      const row = this.#young[index] as Row
      if (row.sequence <= sequence) return
      if (!concerns(row.meter, ended.subject, ended.at)) continue
      if (row.isReady) add(row, ended)
      else row.pending.push(ended)
    }
  }

  noteCrossings(meter: Meter, row: Row): void {
    const { settled } = row.counter
    for (const threshold of meter.alertAt) {
      if (threshold > settled) return
      if (threshold <= row.alerted) continue
      row.alerted = threshold
      this.#options.onCrossing({ meter, threshold, settled })
    }
  }

  /** Forgets what counts nothing any more. Requests that run were admitted when `oldest` or more rows were open; `awaited` stay. */
  prune(at: number, oldest: number, awaited: ReadonlySet<Row>): void {
    this.#young = this.#young.filter(row => row.sequence > oldest)
    for (const [key, row] of this.#rows) {
      const isCrowded = this.#rows.size > MAX_ROWS && !row.isTouched
      row.isTouched = false
      if (awaited.has(row) || !row.isReady || row.counter.held > 0 || !(isIdle(row, at) || isCrowded))
        continue
      this.#rows.delete(key)
      const series = row.meter.kind === 'span' ? row.meter.series : ''
      if (this.#series.get(series) === row) this.#series.delete(series)
    }
  }

  /** What needs no seed: nothing was used of it that this process has not counted. */
  #openKnown(meter: Meter, at: number): Row | undefined {
    if (meter.kind === 'concurrency') return this.#open(meter, true)
    if (meter.kind === 'rolling') {
      const from = Math.max(meter.since, at - meter.windowMs)
      return from >= this.#options.openedAt ? this.#open(meter, true) : undefined
    }
    // The first request of a window, where the last one was counted here.
    const before = this.#series.get(meter.series)
    const isNext =
      before?.isReady === true && before.meter.kind === 'span' && before.meter.end === meter.since
    return isNext ? this.#open(meter, true) : undefined
  }

  #open(meter: Meter, isReady: boolean): Row {
    const counter = createCounter(meter)
    const sequence = ++this.sequence
    const row: Row = { meter, counter, sequence, isReady, pending: [], alerted: 0, isTouched: true }
    this.#rows.set(meter.key, row)
    this.#young.push(row)
    if (meter.kind === 'span') this.#series.set(meter.series, row)
    return row
  }

  /** One question at a time: what comes meanwhile is asked together, by the next. */
  #seed(at: number): Promise<void> {
    this.#seeding ??= Promise.resolve()
      .then(() => this.#seedWaiting(at))
      .finally(() => {
        this.#seeding = undefined
      })
    return this.#seeding
  }

  async #seedWaiting(at: number): Promise<void> {
    const rows = this.#waiting
    this.#waiting = []
    try {
      const meters = rows.map(row => row.meter)
      const seeds = await this.#options.seeds.read(meters, at, missing => {
        for (const row of rows) row.pending = row.pending.filter(({ id }) => missing.has(id))
      })
      rows.forEach((row, index) => this.#begin(row, seeds[index] as Seed))
    } catch (error) {
      // Asked for again by the next request.
      for (const row of rows) this.#rows.delete(row.meter.key)
      throw error
    }
  }

  #begin(row: Row, seed: Seed): void {
    const { counter } = row
    if (counter.kind === 'rolling') for (const { at, amount } of seed.entries) counter.insert(at, amount)
    else counter.settled += seed.used
    for (const ended of row.pending) add(row, ended)
    row.pending = []
    row.isReady = true
    this.noteCrossings(row.meter, row)
  }
}

function add({ meter, counter }: Row, { at, used }: Ended): void {
  // A rate counts what was admitted, whatever came of it.
  if (counter.kind === 'rolling') counter.insert(at, meter.metric === 'requests' ? 1 : usedOf(meter, used))
  else counter.settled += usedOf(meter, used)
}

function isIdle({ meter, counter }: Row, at: number): boolean {
  if (counter.kind === 'rolling') {
    counter.advance(at)
    return counter.resetAt() === null
  }
  if (meter.kind !== 'span') return true
  return meter.end !== null && meter.end + ENDED_KEPT_MS <= at
}
