import type { Meter } from '../../core/limits/meter.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import type { LedgerOptions } from '../ledger.ts'
import { reportCrossings } from '../rules/thresholds.ts'
import { boundEntries } from './bound-entries.ts'
import { type CounterRow, createRow, type EndedRequest, isIdle } from './counter-row.ts'
import { CounterSeeder } from './counter-seeder.ts'
import { isNeeded, OrganizationCounters } from './organization-counters.ts'

/** Rows of all organizations, in about 300 MB. */
const MAX_ROWS = 300_000
/** Entries of all rolling counters, in about 150 MB. */
const MAX_ENTRIES = 2_000_000
/** The rows that one request looks at to crowd some out: twice as many as it can open, and more. */
const MAX_LOOKED_AT = 512

interface CounterTableOptions extends LedgerOptions {
  /** Unix milliseconds. Every request of the deployment from then on is counted here. */
  readonly openedAt: number
  /** Lists the requests with a reservation, where their usage records may be stored before they are settled here. */
  readonly listRunning?: (() => readonly string[]) | undefined
  /** Default: MAX_ENTRIES. */
  readonly maxEntries?: number | undefined
  /** Default: MAX_ROWS. */
  readonly maxRows?: number | undefined
}

/**
 * The counters of this process, by organization. The first request of a meter opens its row. Rows that count nothing any more are
 * pruned. Where there are too many rows, the organization that has the most loses those that it has not used for the longest time.
 */
export class CounterTable {
  readonly #options: CounterTableOptions
  readonly #maxRows: number
  readonly #seeder: CounterSeeder
  readonly #organizations = new Map<string, OrganizationCounters>()
  /** The organization with the most rows. Others may have as many once it has lost some. */
  #largest: OrganizationCounters | undefined
  /** The number of rows. */
  size = 0
  /** The number of rows opened so far. */
  sequence = 0

  constructor(options: CounterTableOptions) {
    this.#options = options
    this.#maxRows = options.maxRows ?? MAX_ROWS
    this.#seeder = new CounterSeeder({
      seeds: options.seeds,
      listRunning: options.listRunning,
      onSeeded: row => this.noteSettled(row.meter, row),
      onFailed: rows => {
        for (const row of rows) this.#remove(this.#organizationOf(row.meter), row)
      },
    })
  }

  /**
   * Removes rows where there are too many. Call it before a request looks for its own. Looks at a bounded number: what it leaves, the
   * next request removes.
   */
  crowdOut(at: number): void {
    for (let count = 0; this.size > this.#maxRows && count < MAX_LOOKED_AT; count++) {
      const row = this.#largest?.nextToCrowdOut()
      if (row === undefined) continue
      this.#largest?.crowdOut(row, at)
      this.size--
    }
  }

  /**
   * Returns the rows of these meters; undefined where one has to be seeded first. Rows can be removed in any later microtask, so
   * reserve in them at once.
   */
  find(meters: readonly Meter[], at: number): CounterRow[] | undefined {
    const rows: CounterRow[] = []
    let organization: OrganizationCounters | undefined
    for (const meter of meters) {
      if (organization?.orgId !== meter.subject.orgId) organization = this.#organizationOf(meter)
      const row = organization.find(meter.key) ?? this.#openWithoutSeed(organization, meter, at)
      if (row === undefined || !row.isReady) return undefined
      row.isTouched = true
      rows.push(row)
    }
    return rows
  }

  /** Resolves once the rows of these meters are seeded. Rejects when a seed cannot be read. */
  async seed(meters: readonly Meter[], at: number): Promise<void> {
    const orgIds = new Set<string>()
    for (const meter of meters) {
      const organization = this.#organizationOf(meter)
      orgIds.add(organization.orgId)
      if (organization.find(meter.key) !== undefined) continue
      // `find` has stopped at the first row that it could not open.
      if (this.#openWithoutSeed(organization, meter, at) !== undefined) continue
      this.#seeder.add(this.#open(organization, meter, false))
    }
    await Promise.all(Array.from(orgIds, orgId => this.#seeder.run(orgId, at)))
  }

  /** Counts an ended request in the rows opened after its admission. `sequence`: the number of rows opened before. */
  addToYounger(sequence: number, ended: EndedRequest): void {
    this.#organizations.get(ended.subject.orgId)?.addToYounger(sequence, ended)
  }

  /** Reports alert thresholds that the settled amount of a row has reached. */
  noteSettled(meter: Meter, row: CounterRow): void {
    const { onThresholdCrossed } = this.#options
    row.alertedUpTo = reportCrossings(meter, row.alertedUpTo, row.counter.settled, onThresholdCrossed)
  }

  /** Removes rows that count nothing any more and bounds the entries of the others. Others use the table meanwhile. */
  async prune(at: number, ticks: Pick<ShortTicks, 'isOver' | 'next'> = new ShortTicks()): Promise<void> {
    let largest: OrganizationCounters | undefined
    for (const organization of this.#organizations.values()) {
      let entryCount = 0
      for (const row of organization.rows()) {
        if (!isNeeded(row) && isIdle(row, at)) this.#remove(organization, row)
        else if (row.counter.kind === 'rolling') entryCount += row.counter.entryCount
        if (ticks.isOver) await ticks.next()
      }
      organization.entryCount = entryCount
      organization.forgetCrowdedOut(at)
      if (organization.isEmpty) this.#organizations.delete(organization.orgId)
      else if (largest === undefined || organization.size > largest.size) largest = organization
    }
    this.#largest = largest
    await boundEntries([...this.#organizations.values()], this.#options.maxEntries ?? MAX_ENTRIES, ticks)
  }

  #organizationOf({ subject: { orgId } }: Meter): OrganizationCounters {
    let organization = this.#organizations.get(orgId)
    if (organization === undefined) {
      organization = new OrganizationCounters(orgId)
      this.#organizations.set(orgId, organization)
    }
    return organization
  }

  /** Opens a row that needs no seed, because all its usage was counted by this process; undefined for others. */
  #openWithoutSeed(organization: OrganizationCounters, meter: Meter, at: number): CounterRow | undefined {
    const needsSeed = organization.needsSeed(meter, at, this.#options.openedAt)
    return needsSeed ? undefined : this.#open(organization, meter, true)
  }

  #open(organization: OrganizationCounters, meter: Meter, isReady: boolean): CounterRow {
    const row = createRow(meter, ++this.sequence, isReady)
    organization.add(row)
    this.size++
    if (this.#largest === undefined || organization.size > this.#largest.size) this.#largest = organization
    return row
  }

  #remove(organization: OrganizationCounters, row: CounterRow): void {
    organization.remove(row)
    this.size--
  }
}
