import type { Meter, MeterSubject } from '../../core/limits/meter.ts'
import { MAX_ROLLING_ENTRIES } from '../../core/rolling-resolution.ts'
import { countsRequest } from '../rules/counts-request.ts'
import type { EntryHolder } from './bound-entries.ts'
import { addEnded, type CounterRow, type EndedRequest, isIdle } from './counter-row.ts'
import type { RollingCounter } from './rolling-counter.ts'

/** The rows of one organization. What another organization has never matters to them. */
export class OrganizationCounters implements EntryHolder {
  readonly orgId: string
  readonly #rows = new Map<string, CounterRow>()
  /** Rows in order of opening, by the fields that their subjects name. */
  readonly #bySubject = new Map<string, CounterRow[]>()
  /** Which fields subjects of rows have named so far. */
  readonly #namedFields = new Set<number>()
  /** The newest row of each series of fixed windows. */
  readonly #newestOfSeries = new Map<string, CounterRow>()
  /** By the length of rolling windows: when a row that still counted something was last crowded out, in Unix milliseconds. */
  readonly #crowdedOutAt = new Map<number, number>()
  #newestSequence = 0
  /**
   * Where the search for a row to crowd out goes on. Only while there is one: V8 keeps all that a map once held as long as an iterator of
   * that time does not go on.
   */
  #candidates: Iterator<CounterRow> | undefined
  /** Entries of the rolling counters when they were last pruned. */
  entryCount = 0
  /** The entries that each rolling counter keeps at most. */
  mostEntries = MAX_ROLLING_ENTRIES

  constructor(orgId: string) {
    this.orgId = orgId
  }

  get size(): number {
    return this.#rows.size
  }

  /** True: nothing has to be remembered of the organization. */
  get isEmpty(): boolean {
    return this.#rows.size === 0 && this.#crowdedOutAt.size === 0
  }

  find(key: string): CounterRow | undefined {
    return this.#rows.get(key)
  }

  rows(): Iterable<CounterRow> {
    return this.#rows.values()
  }

  *rollingCounters(): Generator<RollingCounter> {
    for (const { counter } of this.#rows.values()) if (counter.kind === 'rolling') yield counter
  }

  add(row: CounterRow): void {
    const { meter } = row
    this.#rows.set(meter.key, row)
    this.#newestSequence = row.sequence
    const fields = namedFields(meter.subject)
    this.#namedFields.add(fields)
    const name = nameOf(meter.subject, fields)
    const group = this.#bySubject.get(name)
    if (group === undefined) this.#bySubject.set(name, [row])
    else group.push(row)
    if (meter.kind !== 'fixed') return
    const newest = this.#newestOfSeries.get(meter.series)
    // A request that came late opens the window before.
    if (newest === undefined || newest.meter.since <= meter.since) this.#newestOfSeries.set(meter.series, row)
  }

  remove(row: CounterRow): void {
    const { meter } = row
    this.#rows.delete(meter.key)
    const name = nameOf(meter.subject, namedFields(meter.subject))
    const group = this.#bySubject.get(name) as CounterRow[]
    if (group.length === 1) this.#bySubject.delete(name)
    else group.splice(group.indexOf(row), 1)
    if (meter.kind === 'fixed' && this.#newestOfSeries.get(meter.series) === row) {
      this.#newestOfSeries.delete(meter.series)
    }
  }

  /**
   * Returns the next row that may be crowded out, if it is the one looked at: no reservation needs it, and it was not used since it
   * was looked at the last time.
   */
  nextToCrowdOut(): CounterRow | undefined {
    let next = this.#candidates?.next()
    if (next === undefined || next.done === true) {
      this.#candidates = this.#rows.values()
      next = this.#candidates.next()
      if (next.done === true) return undefined
    }
    const row = next.value
    const isUsed = row.isTouched || isNeeded(row)
    row.isTouched = false
    return isUsed ? undefined : row
  }

  /** Removes a row although it may count something. It is seeded when it is opened again. */
  crowdOut(row: CounterRow, at: number): void {
    this.remove(row)
    const { meter } = row
    if (meter.kind !== 'rolling' || isIdle(row, at)) return
    const before = this.#crowdedOutAt.get(meter.windowMs) ?? at
    this.#crowdedOutAt.set(meter.windowMs, Math.max(before, at))
  }

  /** Ends the search for rows to crowd out, and forgets what was crowded out so long ago that it has left its window. */
  forgetCrowdedOut(at: number): void {
    this.#candidates = undefined
    for (const [windowMs, crowdedOutAt] of this.#crowdedOutAt) {
      if (crowdedOutAt + windowMs <= at) this.#crowdedOutAt.delete(windowMs)
    }
  }

  /**
   * Returns true if a new row of the meter must begin with past usage: a request that the meter counts at `at` may not have been counted
   * here, or in another row. `openedAt`: when this process began to count.
   */
  needsSeed(meter: Meter, at: number, openedAt: number): boolean {
    if (meter.kind === 'concurrency') return false
    if (meter.kind === 'rolling') {
      const from = Math.max(meter.since, at - meter.windowMs)
      return from < Math.max(openedAt, meter.changedAt, this.#crowdedOutAt.get(meter.windowMs) ?? openedAt)
    }
    // The first request of a window whose previous window was counted here.
    const previous = this.#newestOfSeries.get(meter.series)
    const isNext =
      previous?.isReady === true && previous.meter.kind === 'fixed' && previous.meter.end === meter.since
    return !isNext || meter.since < meter.changedAt
  }

  /** Counts an ended request in the rows opened after its admission. `sequence`: the number of rows opened before. */
  addToYounger(sequence: number, ended: EndedRequest): void {
    if (this.#newestSequence <= sequence) return
    for (const fields of this.#namedFields) {
      const group = this.#bySubject.get(nameOf(ended.subject, fields))
      if (group === undefined) continue
      for (let index = group.length - 1; index >= 0; index--) {
        const row = group[index] as CounterRow
        if (row.sequence <= sequence) break
        if (!countsRequest(row.meter, ended.subject, ended.arrivedAt)) continue
        if (row.isReady) addEnded(row, ended)
        else row.pending.push(ended)
      }
    }
  }
}

/** Returns true if a reservation or a read of seeds needs the row. */
export function isNeeded({ shareCount, isReady }: CounterRow): boolean {
  return shareCount > 0 || !isReady
}

const PROJECT = 1
const ENVIRONMENT = 2
const KEY = 4
const END_USER = 8

/** Returns which fields of a subject are not null. */
function namedFields({ projectId, environmentId, keyId, endUserId }: MeterSubject): number {
  return (
    (projectId === null ? 0 : PROJECT) |
    (environmentId === null ? 0 : ENVIRONMENT) |
    (keyId === null ? 0 : KEY) |
    (endUserId === null ? 0 : END_USER)
  )
}

/** Returns a name that is equal for all subjects with equal values of these fields. */
function nameOf({ projectId, environmentId, keyId, endUserId }: MeterSubject, fields: number): string {
  const project = fields & PROJECT ? projectId : ''
  const environment = fields & ENVIRONMENT ? environmentId : ''
  const key = fields & KEY ? keyId : ''
  return `${fields} ${project} ${environment} ${key} ${fields & END_USER ? endUserId : ''}`
}
