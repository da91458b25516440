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
}

/** The counters of an organization: about 100 MB of the server's memory. */
const MAX_COUNTERS = 100_000

/** The most attempts to create the counters, which can expire while others are created. After them they are reported as unavailable. */
export const MAX_ROUNDS = 5
/** The most counters that one script creates; with their seeds, at most MAX_ROLLING_ENTRIES entries unless one has more. */
const COUNTERS_OF_A_SCRIPT = 16
/** A seed must arrive within this time: Redis remembers settled requests for ten seconds. */
const SEED_TIMEOUT_MS = 8000

/** Counters that take more requests than this from Redis make the next ones of their organization wait. */
const MANY_REQUESTS = 1000
/** For each request taken: ten times as long as the scripts run for it, so that they take a tenth of Redis's time. */
const REST_MS = 0.2

/** Creates counters that do not exist yet. Concurrent callers share the creation of each counter. */
export class RedisSeeder {
  readonly #options: RedisSeederOptions
  readonly #running = new Map<string, Promise<boolean>>()
  /** By organization: until when its wide counters wait, by `performance.now()`. */
  readonly #restsUntil = new Map<string, number>()

  constructor(options: RedisSeederOptions) {
    this.#options = options
  }

  /** Resolves with false where the usage so far cannot be read, or the server has lost its data. */
  async seed(run: string, meters: readonly Meter[], at: number): Promise<boolean> {
    const nameOf = (meter: Meter): string => `${run} ${meter.subject.orgId} ${meter.key}`
    const fresh = meters.filter(meter => !this.#running.has(nameOf(meter)))
    if (fresh.length > 0) {
      const seeding = this.#createCounters(run, fresh, at)
        .catch(() => false)
        .finally(() => {
          for (const meter of fresh) this.#running.delete(nameOf(meter))
        })
      for (const meter of fresh) this.#running.set(nameOf(meter), seeding)
    }
    const results = await Promise.all(meters.map(meter => this.#running.get(nameOf(meter))))
    return results.every(isSeeded => isSeeded === true)
  }

  async #createCounters(run: string, meters: readonly Meter[], at: number): Promise<boolean> {
    const { connection, clock } = this.#options
    const { orgId } = (meters[0] as Meter).subject
    if (!meters.every(isOfEndUser) && !(await this.#rest(orgId))) return false
    if (!(await connection.hasData(run))) return false
    const key = reservationsKey(run, orgId)
    // Running and recently settled requests are in Redis, and create-counters.lua counts them. The rest is in PostgreSQL.
    const known = await connection.commands.listKnown(key, clock.time(), ...meters.flatMap(countedArgs))
    this.#noteTaken(orgId, known.length)
    const seeded = meters.filter(({ kind }) => kind !== 'concurrency')
    const seeds = seeded.length === 0 ? [] : await this.#readSeeds(seeded, at, known)
    const counters = meters.map(meter => ({ meter, seed: seeds[seeded.indexOf(meter)] }))
    await Promise.all(inScripts(counters).map(script => this.#createAll(key, script, at)))
    return true
  }

  /**
   * Waits until an organization may create counters again that are not of an end user. What it has open is read for them at once, and Redis
   * serves nobody else meanwhile. Resolves with false if that would take too long.
   */
  async #rest(orgId: string): Promise<boolean> {
    const restMs = (this.#restsUntil.get(orgId) ?? 0) - performance.now()
    if (restMs > 0) await new Promise(resolve => setTimeout(resolve, Math.min(restMs, SEED_TIMEOUT_MS)))
    return restMs <= SEED_TIMEOUT_MS
  }

  #noteTaken(orgId: string, count: number): void {
    const now = performance.now()
    const until = this.#restsUntil.get(orgId) ?? now
    if (count > MANY_REQUESTS) this.#restsUntil.set(orgId, Math.max(until, now) + count * REST_MS)
    else if (until <= now) this.#restsUntil.delete(orgId)
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

function isOfEndUser({ subject }: Meter): boolean {
  return subject.endUserId !== null
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
