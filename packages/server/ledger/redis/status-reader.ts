import type { Meter } from '../../core/limits/meter.ts'
import type { MeterStatus } from '../ledger.ts'
import type { Connection } from './connection.ts'
import { reservationsKey } from './keys.ts'
import { rowOf } from './meter-args.ts'
import { ADMITTED, readMissing, readStatuses } from './replies.ts'
import type { ScriptClock } from './script-clock.ts'
import { MAX_ROUNDS, type RedisSeeder } from './seeder.ts'

export interface StatusReaderOptions {
  readonly connection: Connection
  readonly seeder: RedisSeeder
  readonly clock: ScriptClock
}

/** Reads the statuses of meters of one organization, and seeds counters that do not exist yet. */
export class StatusReader {
  readonly #options: StatusReaderOptions

  constructor(options: StatusReaderOptions) {
    this.#options = options
  }

  /** Resolves with undefined where the counters cannot be read. */
  async read(meters: readonly Meter[], at: number): Promise<readonly MeterStatus[] | undefined> {
    const { connection, seeder, clock } = this.#options
    const orgId = meters[0]?.subject.orgId
    if (orgId === undefined) return []
    const args = meters.flatMap(meter => {
      const [name, code, , window] = rowOf(meter)
      return [name, code, window]
    })
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const { run } = connection
        if (run === undefined) return undefined
        const key = reservationsKey(run, orgId)
        const [now, values] = await connection.commands.readMeters(key, clock.time(), ...args)
        if (values[0] === ADMITTED) return readStatuses(meters, values, clock.shift(now))
        if (!(await seeder.seed(run, readMissing(meters, values), at))) return undefined
      }
    } catch (error) {
      connection.reportFailure(error)
    }
    return undefined
  }
}
