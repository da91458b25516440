import type { Seed } from '../../core/limits/meter.ts'
import { ShortTicks } from '../../core/short-ticks.ts'
import { type SeedSource, SeedStatementError } from '../seed-source.ts'
import { type CounterRow, openSeeded, seedRow } from './counter-row.ts'
import { ReadLane } from './read-lane.ts'

interface CounterSeederOptions {
  readonly seeds: SeedSource
  /**
   * Lists the requests that are left out of the seeds, whether they are stored or not: each is added to the new rows when
   * it settles. Absent: a request is settled here before its record can be stored.
   */
  readonly listRunning?: (() => readonly string[]) | undefined
  readonly onSeeded: (row: CounterRow) => void
  /** The rows could not be seeded. The next request that needs them opens them again. */
  readonly onFailed: (rows: readonly CounterRow[]) => void
}

/** Of a read for all organizations that wait. A new request waits for the end of one read, and then for its own. */
const SHARED_TIMEOUT_MS = 2_000
/** Of a read that finds out which of some organizations are slow. */
const SEARCH_TIMEOUT_MS = 500
const SLOW_TIMEOUT_MS = 25_000
/** Reads of slow organizations at once. Each takes a connection to the database for as long as it lasts. */
const MAX_SLOW_READS = 2
/** How long after it was found slow an organization is tried again. */
const SLOW_FOR_MS = 60_000
/** Above this number the one that was found slow the longest time ago is forgotten. */
const MAX_SLOW_ORGANIZATIONS = 1_000

/**
 * The rows of one organization that one read takes. Others share the read, so they must not wait for an organization with thousands of
 * new end users.
 */
const MAX_ROWS_OF_ORGANIZATION = 2_000

/** What an organization gets of a read: whether its rows are seeded. */
interface Waiter {
  readonly resolve: (isSeeded: boolean) => void
  readonly reject: (error: unknown) => void
}

/** What was read for some rows, in their order. */
interface ReadSeeds {
  readonly rows: readonly CounterRow[]
  readonly seeds: readonly Seed[]
}

/** A read of several organizations. */
interface SharedRead {
  readonly waiters: Map<string, Waiter>
  /** The earliest time of its requests: a rolling row that gets older usage than it needs drops it. */
  at: number
}

/**
 * Seeds new rows. All organizations that wait share a read, one at a time. One that failed or took too long is repeated by halves with
 * a short timeout, down to the organizations that are slow: they are read alone with a long timeout, two at once, and share no read
 * until a short one was enough. These reads have lanes of their own, so a slow organization delays once those that shared a read with
 * it, and fails none of them. Of one organization a single read waits or runs; rows that are added meanwhile share the next one.
 * Of an organization with many rows it takes the oldest; callers that do not find theirs seeded run another one.
 * What was read is applied beside the next reads, and the longest seeds of a read last.
 */
export class CounterSeeder {
  readonly #options: CounterSeederOptions
  /** The rows that no read has taken, by organization. */
  readonly #waiting = new Map<string, CounterRow[]>()
  /** By organization. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #sharedLane = new ReadLane(1)
  readonly #searchLane = new ReadLane(1)
  readonly #slowLane = new ReadLane(MAX_SLOW_READS)
  /** The shared read that has not begun. */
  #nextShared: SharedRead | undefined
  /** When each slow organization is tried again, in Unix milliseconds; the one found slow last is last. */
  readonly #slowUntil = new Map<string, number>()

  constructor(options: CounterSeederOptions) {
    this.#options = options
  }

  add(row: CounterRow): void {
    this.#wait([row])
  }

  /**
   * Resolves when the organization's running read has ended; starts one where none runs. A row may need several. Rejects when it fails: no
   * row of the organization waits any more then.
   */
  run(orgId: string, at: number): Promise<void> {
    const known = this.#running.get(orgId)
    if (known !== undefined) return known
    const running = this.#seed(orgId, at).finally(() => this.#running.delete(orgId))
    this.#running.set(orgId, running)
    return running
  }

  async #seed(orgId: string, at: number): Promise<void> {
    const slowUntil = this.#slowUntil.get(orgId)
    if (slowUntil === undefined) {
      if (await this.#readShared(orgId, at)) return
      this.#noteSlow(orgId, at)
    } else if (slowUntil <= at) {
      if (await this.#readAlone(orgId, at, SEARCH_TIMEOUT_MS, this.#searchLane)) {
        this.#slowUntil.delete(orgId)
        return
      }
      this.#noteSlow(orgId, at)
    }
    await this.#readAlone(orgId, at, SLOW_TIMEOUT_MS, this.#slowLane)
  }

  /** Resolves with false if the organization is slow. */
  async #readAlone(orgId: string, at: number, timeoutMs: number, lane: ReadLane): Promise<boolean> {
    const read = await lane.run(() => this.#read([orgId], at, timeoutMs))
    if (read === undefined) return false
    await this.#apply(read)
    return true
  }

  /** Reads the rows of this organization together with those of others. Resolves with false if it is slow. */
  #readShared(orgId: string, at: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let next = this.#nextShared
      if (next === undefined) {
        next = { waiters: new Map(), at }
        this.#nextShared = next
        void this.#readTogether(next, SHARED_TIMEOUT_MS, this.#sharedLane)
      }
      next.at = Math.min(next.at, at)
      next.waiters.set(orgId, { resolve, reject })
    })
  }

  /** Never rejects: its waiters do. */
  async #readTogether(shared: SharedRead, timeoutMs: number, lane: ReadLane): Promise<void> {
    const { waiters } = shared
    try {
      const read = await lane.run(() => {
        if (this.#nextShared === shared) this.#nextShared = undefined
        return this.#read(waiters.keys(), shared.at, timeoutMs)
      })
      if (read === undefined && waiters.size > 1) return this.#readHalves(shared)
      if (read !== undefined) await this.#apply(read, orgId => waiters.get(orgId)?.resolve(true))
      for (const { resolve } of waiters.values()) resolve(read !== undefined)
    } catch (error) {
      for (const { reject } of waiters.values()) reject(error)
    }
  }

  #readHalves({ waiters, at }: SharedRead): void {
    const all = [...waiters]
    const middle = all.length >> 1
    for (const half of [all.slice(0, middle), all.slice(middle)]) {
      void this.#readTogether({ waiters: new Map(half), at }, SEARCH_TIMEOUT_MS, this.#searchLane)
    }
  }

  /**
   * Reads the seeds of the rows of these organizations that wait. Returns undefined if the statement failed or took too long, and another
   * read may succeed: the rows then wait for it. Rejects where none is left, or nothing can be read for anyone.
   */
  async #read(orgIds: Iterable<string>, at: number, timeoutMs: number): Promise<ReadSeeds | undefined> {
    const { seeds, onFailed, listRunning } = this.#options
    const rows = this.#takeWaiting(orgIds)
    if (rows.length === 0) return { rows, seeds: [] }
    try {
      const meters = rows.map(({ meter }) => meter)
      const without = listRunning?.()
      const leftOut = new Set(without)
      // Also where an earlier read failed: what it has dropped from `pending` was stored then, and is in each later snapshot.
      const onSnapshot = (missing: ReadonlySet<string>): void => {
        for (const row of rows) {
          row.pending = row.pending.filter(({ id }) => missing.has(id) || leftOut.has(id))
        }
      }
      return { rows, seeds: await seeds.read(meters, at, onSnapshot, without, timeoutMs) }
    } catch (error) {
      if (error instanceof SeedStatementError && timeoutMs < SLOW_TIMEOUT_MS) {
        this.#wait(rows)
        return undefined
      }
      // Those that the read has left too, since their callers wait for the end of the same run.
      const failedOrgIds = new Set(rows.map(({ meter }) => meter.subject.orgId))
      onFailed(rows.concat(this.#takeWaiting(failedOrgIds, Number.POSITIVE_INFINITY)))
      throw error
    }
  }

  /** Seeds rows in short ticks, those of the organization with the fewest entries first. Calls `onReady` when all rows of one are ready. */
  async #apply(read: ReadSeeds, onReady: (orgId: string) => void = () => {}): Promise<void> {
    const { onSeeded, onFailed } = this.#options
    const ticks = new ShortTicks()
    try {
      for (const { orgId, rows, seeds } of byLength(read)) {
        for (const [index, row] of rows.entries()) await seedRow(row, seeds[index] as Seed, ticks)
        // At once, so that none is crowded out before the requests that wait for it find it.
        for (const row of rows) {
          openSeeded(row)
          onSeeded(row)
        }
        onReady(orgId)
      }
    } catch (error) {
      onFailed(read.rows.filter(({ isReady }) => !isReady))
      throw error
    }
  }

  #wait(rows: readonly CounterRow[]): void {
    for (const row of rows) {
      const { orgId } = row.meter.subject
      const waiting = this.#waiting.get(orgId)
      if (waiting === undefined) this.#waiting.set(orgId, [row])
      else waiting.push(row)
    }
  }

  /** Takes up to `most` rows of each organization. */
  #takeWaiting(orgIds: Iterable<string>, most = MAX_ROWS_OF_ORGANIZATION): CounterRow[] {
    const rows: CounterRow[] = []
    for (const orgId of orgIds) {
      const waiting = this.#waiting.get(orgId) ?? []
      for (const row of waiting.slice(0, most)) rows.push(row)
      if (waiting.length > most) this.#waiting.set(orgId, waiting.slice(most))
      else this.#waiting.delete(orgId)
    }
    return rows
  }

  #noteSlow(orgId: string, at: number): void {
    this.#slowUntil.delete(orgId)
    const [oldest] = this.#slowUntil.keys()
    if (oldest !== undefined && this.#slowUntil.size >= MAX_SLOW_ORGANIZATIONS) this.#slowUntil.delete(oldest)
    this.#slowUntil.set(orgId, at + SLOW_FOR_MS)
  }
}

/** What was read for one organization. */
interface OrganizationSeeds {
  readonly orgId: string
  readonly rows: CounterRow[]
  readonly seeds: Seed[]
  entries: number
}

function byLength({ rows, seeds }: ReadSeeds): OrganizationSeeds[] {
  const all = new Map<string, OrganizationSeeds>()
  for (const [index, row] of rows.entries()) {
    const { orgId } = row.meter.subject
    const seed = seeds[index] as Seed
    const own = all.get(orgId) ?? { orgId, rows: [], seeds: [], entries: 0 }
    all.set(orgId, own)
    own.rows.push(row)
    own.seeds.push(seed)
    own.entries += seed.entries.length
  }
  return [...all.values()].sort((one, other) => one.entries - other.entries)
}
