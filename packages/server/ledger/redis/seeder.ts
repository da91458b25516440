import type { Meter, Seed } from '../../core/limits/meter.ts'
import { MAX_ROLLING_ENTRIES } from '../../core/rolling-resolution.ts'
import type { LedgerOptions } from '../ledger.ts'
import { reportCrossings } from '../rules/thresholds.ts'
import type { Connection } from './connection.ts'
import { reservationsKey } from './keys.ts'
import { countedArgs, lifeOf, rowOf } from './meter-args.ts'
import type { ScriptClock } from './script-clock.ts'

export interface RedisSeederOptions extends Pick<LedgerOptions, 'seeds' | 'onThresholdCrossed'> {
  readonly connection: Connection
  readonly clock: ScriptClock
  /** How many counters an organization may have on the server. Default: MAX_COUNTERS. */
  readonly maxCounters?: number | undefined
  /** Called with what kept counters from being created. */
  readonly onFailure?: (error: unknown) => void
}

/** The counters of an organization: about 100 MB of the server's memory. */
const MAX_COUNTERS = 100_000

/** The most attempts to create the counters, which can expire while others are created. After them they are reported as unavailable. */
export const MAX_ROUNDS = 5
/** The most counters that one script creates; with their seeds, at most MAX_ROLLING_ENTRIES entries unless one has more. */
const COUNTERS_OF_A_SCRIPT = 16
/** A seed must arrive within this time: Redis remembers settled requests for ten seconds. */
const SEED_TIMEOUT_MS = 8000

/** Counters for which Redis reads more requests than this make the next ones of their organization, or of their end user, wait. */
const MANY_REQUESTS = 1000
/** For each request and script: ten times as long as the script runs for it, so that they take a tenth of Redis's time. */
const REST_MS = 0.1

/** The new counters of an organization, or of one of its end users: Redis is asked for the requests of one after the other. */
interface Line {
  last: Promise<unknown>
  waiting: number
  /** By `performance.now()`. */
  restsUntil: number
}

/** Creates counters that do not exist yet. Concurrent callers share the creation of each counter. */
export class RedisSeeder {
  readonly #options: RedisSeederOptions
  readonly #running = new Map<string, Promise<boolean>>()
  readonly #lines = new Map<string, Line>()

  constructor(options: RedisSeederOptions) {
    this.#options = options
  }

  /** Resolves with false where the usage so far cannot be read, or the server has lost its data. */
  async seed(run: string, meters: readonly Meter[], at: number): Promise<boolean> {
    const nameOf = (meter: Meter): string => `${run} ${meter.subject.orgId} ${meter.key}`
    const fresh = meters.filter(meter => !this.#running.has(nameOf(meter)))
    if (fresh.length > 0) {
      const seeding = this.#createCounters(run, fresh, at)
        .catch((error: unknown) => {
          this.#options.onFailure?.(error)
          return false
        })
        .finally(() => {
          for (const meter of fresh) this.#running.delete(nameOf(meter))
        })
      for (const meter of fresh) this.#running.set(nameOf(meter), seeding)
    }
    const results = await Promise.all(meters.map(meter => this.#running.get(nameOf(meter))))
    return results.every(isSeeded => isSeeded === true)
  }

  async #createCounters(run: string, meters: readonly Meter[], at: number): Promise<boolean> {
    const { connection } = this.#options
    const key = reservationsKey(run, (meters[0] as Meter).subject.orgId)
    if (!(await connection.hasData(run))) return false
    // Running and recently settled requests are in Redis, and create-counters.lua counts them. The rest is in PostgreSQL.
    const known = await this.#listKnown(key, meters)
    if (known === undefined) return false
    const seeded = meters.filter(({ kind }) => kind !== 'concurrency')
    const seeds = seeded.length === 0 ? [] : await this.#readSeeds(seeded, at, known)
    const counters = meters.map(meter => ({ meter, seed: seeds[seeded.indexOf(meter)] }))
    // One after the other: Redis serves others between them.
    for (const script of inScripts(counters)) await this.#createAll(key, script, at)
    return true
  }

  /**
   * Lists the requests that counters take from Redis. What an organization or an end user has open is read at once, and Redis serves nobody
   * else meanwhile: so this waits until those before it are listed and their rest is over. Returns undefined if that would take too long.
   */
  async #listKnown(key: string, meters: readonly Meter[]): Promise<readonly string[] | undefined> {
    const deadline = performance.now() + SEED_TIMEOUT_MS
    const owner = ownerOf(meters)
    const line = this.#lines.get(owner) ?? { last: Promise.resolve(), waiting: 0, restsUntil: 0 }
    this.#lines.set(owner, line)
    line.waiting++
    const listing = line.last.then(() => this.#listInTurn(line, deadline, key, meters))
    line.last = listing.catch(() => {})
    try {
      return await listing
    } finally {
      line.waiting--
      this.#forget(owner, line)
    }
  }

  async #listInTurn(
    line: Line,
    deadline: number,
    key: string,
    meters: readonly Meter[],
  ): Promise<readonly string[] | undefined> {
    const { connection, clock } = this.#options
    if (Math.max(line.restsUntil, performance.now()) > deadline) return undefined
    const restMs = line.restsUntil - performance.now()
    if (restMs > 0) await new Promise(resolve => setTimeout(resolve, restMs))
    const args = meters.flatMap(countedArgs)
    const [effort, ...known] = await connection.commands.listKnown(key, clock.time(), ...args)
    const scripts = 1 + Math.ceil(meters.length / COUNTERS_OF_A_SCRIPT)
    if (Number(effort) > MANY_REQUESTS) {
      line.restsUntil = performance.now() + Number(effort) * REST_MS * scripts
    }
    return known
  }

  #forget(owner: string, line: Line): void {
    if (line.waiting > 0) return
    const restMs = line.restsUntil - performance.now()
    if (restMs > 0) setTimeout(() => this.#forget(owner, line), restMs).unref()
    else if (this.#lines.get(owner) === line) this.#lines.delete(owner)
  }

  async #readSeeds(meters: readonly Meter[], at: number, known: readonly string[]): Promise<readonly Seed[]> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the usage so far was not read within ${SEED_TIMEOUT_MS} ms`)),
        SEED_TIMEOUT_MS,
      )
    })
    try {
      // With the same timeout for its statement: a read that nobody waits for would keep its connection.
      const read = this.#options.seeds.read(meters, at, () => {}, known, SEED_TIMEOUT_MS)
      return await Promise.race([timeout, read])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Creates counters by one script. */
  async #createAll(key: string, counters: readonly NewCounter[], at: number): Promise<void> {
    const { connection, clock, onThresholdCrossed, maxCounters = MAX_COUNTERS } = this.#options
    const rows = counters.map(({ meter, seed }) => {
      const [name, code, , window] = rowOf(meter)
      const entries = seed?.entries.flatMap(entry => [entry.at, entry.amount]) ?? []
      return [name, code, window, lifeOf(meter, at), ...countedArgs(meter), seed?.used ?? 0, entries]
    })
    const settled = await connection.commands.createCounters(
      key,
      clock.time(),
      maxCounters,
      JSON.stringify(rows),
    )
    for (const [index, { meter }] of counters.entries()) {
      reportCrossings(meter, 0, settled[index] ?? 0, onThresholdCrossed)
    }
  }
}

/** Returns in whose line new counters of a request wait: its end user's if all count that one alone. */
function ownerOf(meters: readonly Meter[]): string {
  const { orgId, endUserId } = (meters[0] as Meter).subject
  return meters.every(({ subject }) => subject.endUserId !== null) ? `${orgId} ${endUserId}` : orgId
}

interface NewCounter {
  readonly meter: Meter
  readonly seed: Seed | undefined
}

/**
 * Divides counters into those that one script creates. A script reads the reservations that its counters may count once, so fewer scripts
 * are better, but it serves no other client meanwhile.
 */
function inScripts(counters: readonly NewCounter[]): NewCounter[][] {
  const scripts: NewCounter[][] = []
  let script: NewCounter[] = []
  let entries = 0
  for (const counter of counters) {
    const more = counter.seed?.entries.length ?? 0
    if (
      script.length === COUNTERS_OF_A_SCRIPT ||
      (script.length > 0 && entries + more > MAX_ROLLING_ENTRIES)
    ) {
      scripts.push(script)
      script = []
      entries = 0
    }
    script.push(counter)
    entries += more
  }
  return [...scripts, script]
}
