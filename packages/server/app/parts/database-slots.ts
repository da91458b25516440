import type { Pool } from 'pg'
import { FairSlots } from '../../http/fairness/fair-slots.ts'

/** Statements at once by default. Of a small pool one connection is left for all others. */
const MAX_SLOTS = 3
const WAITING_PER_ENVIRONMENT = 1_000
const WAIT_MS = 5_000

/** Whose statement it is. */
export interface SlotOwner {
  readonly orgId: string
  readonly environmentId: string
}

export interface DatabaseSlotBounds {
  /** Statements at once, of which one environment has two at most. Default: 3. */
  readonly max?: number
  /** How many of them one organization may have. Default: no bound of its own. */
  readonly perOrganization?: number
  /** How long a statement waits for a connection, in milliseconds. Default: 5,000. */
  readonly waitMs?: number
}

/**
 * Shares the database connections of a gateway process between the organizations whose requests need a statement of their own, and between
 * the environments of each, so that a flood of such requests leaves connections to others, and to what loads configuration and stores
 * records.
 */
export class DatabaseSlots {
  readonly #slots: FairSlots
  readonly #waitMs: number

  constructor(
    pool: Pick<Pool, 'options'>,
    { max = MAX_SLOTS, perOrganization, waitMs = WAIT_MS }: DatabaseSlotBounds = {},
  ) {
    const total = Math.max(1, Math.min(max, pool.options.max - 1))
    this.#waitMs = waitMs
    const bounds = { total, perTenant: 2, perCaller: 2, divisor: 1, perOrganization }
    this.#slots = new FairSlots({ ...bounds, waitingPerTenant: WAITING_PER_ENVIRONMENT })
  }

  /** Runs the statement. Rejects if it gets no connection in time. */
  async run<Result>({ orgId, environmentId }: SlotOwner, statement: () => Promise<Result>): Promise<Result> {
    const caller = `caller in ${environmentId}`
    if (!(await this.#slots.acquire(environmentId, caller, this.#waitMs, orgId))) {
      throw new Error('the requests of this environment ask the database for too much at once')
    }
    try {
      return await statement()
    } finally {
      this.#slots.release(environmentId, caller, orgId)
    }
  }
}
