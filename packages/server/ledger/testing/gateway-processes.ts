import { vi } from 'vitest'
import type { Meter } from '../../core/limits/meter.ts'
import { FailoverLedger } from '../failover/failover-ledger.ts'
import type { Verdict } from '../ledger.ts'
import { ProcessLedger } from '../process/process-ledger.ts'
import { RedisLedger, type RedisLedgerOptions } from '../redis/redis-ledger.ts'
import { toRequest, toUsage } from './make-meter.ts'
import { UsageDatabase } from './usage-database.ts'

export const CENT = 10_000_000

/** The ledger of one gateway process, and what the gateway does with it. Amounts are cents. */
export class GatewayProcess {
  readonly ledger: FailoverLedger
  readonly #database: UsageDatabase

  constructor(ledger: FailoverLedger, database: UsageDatabase) {
    this.ledger = ledger
    this.#database = database
  }

  async reserve(id: string, meters: readonly Meter[], cents = 0): Promise<Verdict> {
    const amounts = { tokens: 0, nanoUsd: cents * CENT }
    return await this.ledger.reserve(toRequest(id, meters, { at: Date.now(), amounts }))
  }

  async extend(id: string, cents: number): Promise<Verdict> {
    return await this.ledger.extend(id, { tokens: 0, nanoUsd: cents * CENT }, Date.now(), 60_000)
  }

  /** Stores the usage record of a request, then settles it. */
  async end(id: string, cents: number): Promise<void> {
    const usage = toUsage({ nanoUsd: cents * CENT })
    this.#database.write(id, Date.now(), usage)
    this.#database.store()
    await this.ledger.settle(id, usage)
  }

  /** Cents that a budget counts; undefined where its counter cannot be read. */
  async read(meter: Meter): Promise<{ settled: number; reserved: number } | undefined> {
    const [status] = (await this.ledger.read([meter], Date.now())) ?? []
    return status && { settled: status.settled / CENT, reserved: status.reserved / CENT }
  }
}

/** Gateway processes that share a Redis server and a usage database. */
export class GatewayProcesses {
  readonly database = new UsageDatabase()
  readonly #processes: GatewayProcess[] = []
  readonly lines: string[] = []

  /** Opens processes and waits until all of them count on Redis. */
  async open(
    count: number,
    options: { url: string } & Partial<RedisLedgerOptions>,
  ): Promise<GatewayProcess[]> {
    const isFailOpen = options.isFailOpen ?? false
    for (let index = 0; index < count; index++) {
      const common = { owner: `process ${index}`, seeds: this.database, onThresholdCrossed: () => {} }
      const shared = new RedisLedger({
        ...common,
        log: line => void this.lines.push(line),
        now: Date.now,
        countProcesses: async () => count,
        drain: async () => {},
        heartbeatMs: 100,
        ...options,
      })
      const openLocal = (): ProcessLedger =>
        new ProcessLedger({ ...common, openedAt: Number.POSITIVE_INFINITY })
      this.#processes.push(
        new GatewayProcess(new FailoverLedger({ shared, isFailOpen, openLocal }), this.database),
      )
    }
    await this.untilShared()
    return this.#processes
  }

  async untilShared(): Promise<void> {
    await this.#untilHealthy(true)
  }

  async untilLost(): Promise<void> {
    await this.#untilHealthy(false)
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map(({ ledger }) => ledger.close()))
  }

  async #untilHealthy(isHealthy: boolean): Promise<void> {
    for (const { ledger } of this.#processes) {
      const check = (): void => {
        if (ledger.health().isHealthy !== isHealthy) throw new Error(`the ledger is healthy: ${!isHealthy}`)
      }
      await vi.waitFor(check, { timeout: 5000, interval: 5 })
    }
  }
}
