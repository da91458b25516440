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

/** Seeds new rows. One read runs at a time; rows that are added meanwhile share the next one. */
export class CounterSeeder {
  readonly #options: CounterSeederOptions
  #waiting: CounterRow[] = []
  #running: Promise<void> | undefined

  constructor(options: CounterSeederOptions) {
    this.#options = options
  }

  add(row: CounterRow): void {
    this.#waiting.push(row)
  }

  /** Resolves when the running read has ended; starts one where none runs. Rejects when it fails. */
  run(at: number): Promise<void> {
    // In a later microtask, so that callers of the same tick share the read.
    this.#running ??= Promise.resolve()
      .then(() => this.#seedWaiting(at))
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #seedWaiting(at: number): Promise<void> {
    const { seeds, onSeeded, onFailed, listRunning } = this.#options
    const rows = this.#waiting
    this.#waiting = []
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
