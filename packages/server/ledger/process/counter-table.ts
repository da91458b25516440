import type { Meter } from '../../core/limits/meter.ts'
import type { LedgerOptions } from '../ledger.ts'
import { countsRequest } from '../rules/counts-request.ts'
import { reportCrossings } from '../rules/thresholds.ts'
import { boundEntries } from './bound-entries.ts'
import { addEnded, type CounterRow, createRow, type EndedRequest, isIdle } from './counter-row.ts'
import { CounterSeeder } from './counter-seeder.ts'
import type { RollingCounter } from './rolling-counter.ts'

/** Above this number, rows that reserve nothing and were not used lately are removed. They are seeded again when needed. */
const MAX_ROWS = 300_000
/** Entries of all rolling counters, in about 150 MB. */
const MAX_ENTRIES = 2_000_000

interface CounterTableOptions extends LedgerOptions {
  /** Unix milliseconds. Every request of the deployment from then on is counted here. */
  readonly openedAt: number
  /** Lists the requests with a reservation, where their usage records may be stored before they are settled here. */
  readonly listRunning?: (() => readonly string[]) | undefined
  /** Default: MAX_ENTRIES. */
  readonly maxEntries?: number | undefined
}

/** The counters of this process. The first request of a meter opens its row, and `prune` removes rows. */
export class CounterTable {
  readonly #options: CounterTableOptions
  readonly #seeder: CounterSeeder
  readonly #rows = new Map<string, CounterRow>()
  /** The newest row of each series of fixed windows. */
  readonly #newestOfSeries = new Map<string, CounterRow>()
  /** Rows that some running reservation is older than, in order of opening. */
  #youngRows: CounterRow[] = []
  /** The number of rows opened so far. */
  sequence = 0

  constructor(options: CounterTableOptions) {
    this.#options = options
    this.#seeder = new CounterSeeder({
      seeds: options.seeds,
      listRunning: options.listRunning,
      onSeeded: row => this.noteSettled(row.meter, row),
      onFailed: rows => {
        for (const row of rows) this.#rows.delete(row.meter.key)
      },
    })
  }

  get size(): number {
    return this.#rows.size
  }

  /** Returns the rows of these meters; undefined where one has to be seeded first. */
  find(meters: readonly Meter[], at: number): CounterRow[] | undefined {
    const rows: CounterRow[] = []
    for (const meter of meters) {
      const row = this.#rows.get(meter.key) ?? this.#openWithoutSeed(meter, at)
      if (row === undefined || !row.isReady) return undefined
      row.isTouched = true
      rows.push(row)
    }
    return rows
  }

  /** Returns the rows of these meters and seeds those that are new. Rejects when a seed cannot be read. */
  async get(meters: readonly Meter[], at: number): Promise<CounterRow[]> {
    for (;;) {
      const rows = this.find(meters, at)
      if (rows !== undefined) return rows
      for (const meter of meters) {
        if (this.#rows.has(meter.key)) continue
        // `find` has stopped at the first row that it could not open.
        if (this.#openWithoutSeed(meter, at) === undefined) this.#seeder.add(this.#open(meter, false))
      }
      const orgIds = new Set(meters.map(({ subject }) => subject.orgId))
      await Promise.all([...orgIds].map(orgId => this.#seeder.run(orgId, at)))
    }
  }

  /** Counts an ended request in the rows opened after its admission. `sequence`: the number of rows opened before. */
  addToYounger(sequence: number, ended: EndedRequest): void {
    for (let index = this.#youngRows.length - 1; index >= 0; index--) {
      const row = this.#youngRows[index] as CounterRow
      if (row.sequence <= sequence) return
      if (!countsRequest(row.meter, ended.subject, ended.at)) continue
      if (row.isReady) addEnded(row, ended)
      else row.pending.push(ended)
    }
  }

  /** Reports alert thresholds that the settled amount of a row has reached. */
  noteSettled(meter: Meter, row: CounterRow): void {
    const { onThresholdCrossed } = this.#options
    row.alertedUpTo = reportCrossings(meter, row.alertedUpTo, row.counter.settled, onThresholdCrossed)
  }

  /**
   * Removes rows that count nothing any more. `oldestSequence`: the smallest sequence of a running reservation.
   * `protectedRows` stay: an expired reservation may be restored in them.
   */
  prune(at: number, oldestSequence: number, protectedRows: ReadonlySet<CounterRow>): void {
    this.#youngRows = this.#youngRows.filter(row => row.sequence > oldestSequence)
    for (const [key, row] of this.#rows) {
      const isCrowdedOut = this.#rows.size > MAX_ROWS && !row.isTouched
      row.isTouched = false
      if (protectedRows.has(row) || !row.isReady || row.counter.reserved > 0) continue
      if (!isIdle(row, at) && !isCrowdedOut) continue
      this.#rows.delete(key)
      const series = row.meter.kind === 'fixed' ? row.meter.series : ''
      if (this.#newestOfSeries.get(series) === row) this.#newestOfSeries.delete(series)
    }
    boundEntries(this.#listRolling(), this.#options.maxEntries ?? MAX_ENTRIES)
  }

  *#listRolling(): Generator<readonly [string, RollingCounter]> {
    for (const { meter, counter } of this.#rows.values()) {
      if (counter.kind === 'rolling') yield [meter.subject.orgId, counter]
    }
  }

  /** Opens a row that needs no seed, because all its usage was counted by this process; undefined for others. */
  #openWithoutSeed(meter: Meter, at: number): CounterRow | undefined {
    if (meter.kind === 'concurrency') return this.#open(meter, true)
    if (meter.kind === 'rolling') {
      const from = Math.max(meter.since, at - meter.windowMs)
      return from >= this.#options.openedAt ? this.#open(meter, true) : undefined
    }
    // The first request of a window whose previous window was counted here.
    const previous = this.#newestOfSeries.get(meter.series)
    const isNext =
      previous?.isReady === true && previous.meter.kind === 'fixed' && previous.meter.end === meter.since
    return isNext ? this.#open(meter, true) : undefined
  }

  #open(meter: Meter, isReady: boolean): CounterRow {
    const row = createRow(meter, ++this.sequence, isReady)
    this.#rows.set(meter.key, row)
    this.#youngRows.push(row)
    if (meter.kind === 'fixed') this.#newestOfSeries.set(meter.series, row)
    return row
  }
}
