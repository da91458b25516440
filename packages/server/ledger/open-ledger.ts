import { FailoverLedger } from './failover-ledger.ts'
import type { Ledger, LedgerOptions } from './ledger.ts'
import { ProcessLedger } from './process-ledger.ts'
import { RedisLedger, type RedisLedgerOptions } from './redis/redis-ledger.ts'

export interface OpenLedgerOptions
  extends LedgerOptions,
    Pick<RedisLedgerOptions, 'log' | 'now' | 'countProcesses' | 'drain'> {
  /** undefined: this process is the only one, and counts by itself. */
  readonly redisUrl: string | undefined
  readonly isFailOpen: boolean
}

/** The ledger and what is measured of it. */
export interface OpenedLedger {
  readonly ledger: Ledger
  /** Requests that hold something now. */
  countHolds(): number
  /** Requests that were counted by this process alone though they should not, so far. */
  countAlone(): number
}

/** A start waits so long for the server that counts; then it goes on without, as in any outage. Milliseconds. */
const START_PATIENCE_MS = 5000

/** The ledger of this house: by itself, or together with others over Redis or Valkey. */
export async function openLedger(options: OpenLedgerOptions): Promise<OpenedLedger> {
  const { redisUrl, isFailOpen, now, log } = options
  if (redisUrl === undefined) {
    const ledger = new ProcessLedger({ ...options, openedAt: now() })
    return { ledger, countHolds: () => ledger.holdCount, countAlone: () => 0 }
  }
  const shared = new RedisLedger({ ...options, url: redisUrl })
  await shared.whenOpen(START_PATIENCE_MS)
  const { isWhole, reasons } = shared.health()
  if (!isWhole) log(`the limits are not counted together yet: ${reasons.join('; ')}`)
  const ledger = new FailoverLedger({
    shared,
    isFailOpen,
    // All its counters are seeded: others count between its outages.
    openLocal: () => new ProcessLedger({ ...options, openedAt: Number.POSITIVE_INFINITY }),
  })
  return { ledger, countHolds: () => shared.holdCount, countAlone: () => ledger.aloneCount }
}
