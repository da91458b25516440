import type { Ledger, LedgerOptions } from '../ledger.ts'
import { ProcessLedger } from '../process/process-ledger.ts'
import { RedisLedger, type RedisLedgerOptions } from '../redis/redis-ledger.ts'
import { FailoverLedger } from './failover-ledger.ts'

export interface OpenLedgerOptions
  extends LedgerOptions,
    Pick<RedisLedgerOptions, 'log' | 'now' | 'countProcesses' | 'drain'> {
  /** undefined: this is the only gateway process, and it counts in its own memory. */
  readonly redisUrl: string | undefined
  /** Whether requests under a limit on cost are served while Redis is unreachable (RIDEAU_LIMITS_FAILOPEN). */
  readonly isFailOpen: boolean
  /** True: this process is the supervisor of gateway workers, and counts for them (ProcessLedgerOptions). */
  readonly hasWorkers?: boolean
  /** How long to wait for Redis before starting without it. */
  readonly startTimeoutMs?: number
}

/** The ledger and its figures for metrics. */
export interface OpenedLedger {
  readonly ledger: Ledger
  /** Number of requests with a reservation. */
  countReservations(): number
  /** Number of requests so far that this process admitted alone because Redis was unreachable. */
  countLocalAdmissions(): number
  /** Ends what is left of a worker that was killed. On Redis its leases run out. Returns the number of reservations. */
  expireOwner(owner: string): number
}

const START_TIMEOUT_MS = 5000

/** Opens the ledger of this process: in memory, or on Redis or Valkey where a URL is given. Starts also when Redis is unreachable. */
export async function openLedger(options: OpenLedgerOptions): Promise<OpenedLedger> {
  const { redisUrl, isFailOpen, now, log, startTimeoutMs = START_TIMEOUT_MS } = options
  if (redisUrl === undefined) {
    const ledger = new ProcessLedger({ ...options, openedAt: now() })
    return {
      ledger,
      countReservations: () => ledger.reservationCount,
      countLocalAdmissions: () => 0,
      expireOwner: owner => ledger.expireOwner(owner),
    }
  }
  const shared = new RedisLedger({ ...options, url: redisUrl })
  await shared.whenOpen(startTimeoutMs)
  const { isHealthy, reasons } = shared.health()
  if (!isHealthy) log(`limits are not counted on Redis yet: ${reasons.join('; ')}`)
  const ledger = new FailoverLedger({
    shared,
    isFailOpen,
    // Infinity: all its counters are seeded, because other processes count requests between outages.
    openLocal: () => new ProcessLedger({ ...options, openedAt: Number.POSITIVE_INFINITY }),
  })
  return {
    ledger,
    countReservations: () => shared.reservationCount,
    countLocalAdmissions: () => ledger.localAdmissionCount,
    expireOwner: owner => ledger.expireOwner(owner),
  }
}
