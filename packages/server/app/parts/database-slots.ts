import type { Pool } from 'pg'
import { FairSlots } from '../../http/fairness/fair-slots.ts'

/** Statements of this kind at once. Of a small pool one connection is left for all others. */
const MAX_SLOTS = 3
const WAITING_PER_ENVIRONMENT = 1_000
const WAIT_MS = 5_000

/**
 * Shares the database connections of a gateway process between the environments whose requests need a statement of their own, so that a
 * flood of such requests leaves connections to others, and to what loads configuration and stores records.
 */
export class DatabaseSlots {
  readonly #slots: FairSlots

  constructor(pool: Pick<Pool, 'options'>) {
    const total = Math.max(1, Math.min(MAX_SLOTS, pool.options.max - 1))
    const waitingPerTenant = WAITING_PER_ENVIRONMENT
    this.#slots = new FairSlots({ total, perTenant: 2, perCaller: 2, divisor: 1, waitingPerTenant })
  }

  /** Runs the statement. Rejects if it gets no connection in time. */
  async run<Result>(environmentId: string, statement: () => Promise<Result>): Promise<Result> {
    const caller = `caller in ${environmentId}`
    if (!(await this.#slots.acquire(environmentId, caller, WAIT_MS))) {
      throw new Error('the requests of this environment ask the database for too much at once')
    }
    try {
      return await statement()
    } finally {
      this.#slots.release(environmentId, caller)
    }
  }
}
