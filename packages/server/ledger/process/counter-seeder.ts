import type { Seed } from '../../core/limits/meter.ts'
import type { SeedSource } from '../seed-source.ts'
import { type CounterRow, seedRow } from './counter-row.ts'

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

/** Reads at once. Each takes a connection to the database, for as long as the usage of an organization takes to read. */
const MAX_READS = 2

/**
 * Seeds new rows. Each organization has reads of its own, one at a time, so that one whose usage takes long to read delays and fails
 * none of the others; rows that are added meanwhile share the next one.
 */
export class CounterSeeder {
  readonly #options: CounterSeederOptions
  /** By organization, like the reads. */
  readonly #waiting = new Map<string, CounterRow[]>()
  readonly #running = new Map<string, Promise<void>>()
  #reads = 0
  /** The reads that wait for another one's end, in order. */
  readonly #starts: (() => void)[] = []

  constructor(options: CounterSeederOptions) {
    this.#options = options
  }

  add(row: CounterRow): void {
    const { orgId } = row.meter.subject
    const waiting = this.#waiting.get(orgId)
    if (waiting === undefined) this.#waiting.set(orgId, [row])
    else waiting.push(row)
  }

  /** Resolves when the organization's running read has ended; starts one where none runs. Rejects when it fails. */
  run(orgId: string, at: number): Promise<void> {
    const known = this.#running.get(orgId)
    if (known !== undefined) return known
    const running = this.#read(orgId, at).finally(() => this.#running.delete(orgId))
    this.#running.set(orgId, running)
    return running
  }

  async #read(orgId: string, at: number): Promise<void> {
    // In a later microtask, so that callers of the same tick share the read.
    await Promise.resolve()
    if (this.#reads < MAX_READS) this.#reads++
    else await new Promise<void>(resolve => this.#starts.push(resolve))
    try {
      await this.#seedWaiting(orgId, at)
    } finally {
      const next = this.#starts.shift()
      if (next === undefined) this.#reads--
      else next()
    }
  }

  async #seedWaiting(orgId: string, at: number): Promise<void> {
    const { seeds, onSeeded, onFailed, listRunning } = this.#options
    const rows = this.#waiting.get(orgId) ?? []
    this.#waiting.delete(orgId)
    if (rows.length === 0) return
    try {
      const meters = rows.map(({ meter }) => meter)
      const without = listRunning?.()
      const leftOut = new Set(without)
      const onSnapshot = (missing: ReadonlySet<string>): void => {
        for (const row of rows) {
          row.pending = row.pending.filter(({ id }) => missing.has(id) || leftOut.has(id))
        }
      }
      const read = await seeds.read(meters, at, onSnapshot, without)
      for (const [index, row] of rows.entries()) {
        seedRow(row, read[index] as Seed)
        onSeeded(row)
      }
    } catch (error) {
      onFailed(rows)
      throw error
    }
  }
}
