import type { Logger } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { type OnException, runGuarded } from '../../core/on-exception.ts'
import { type OpenedLedger, openLedger } from '../../ledger/failover/open-ledger.ts'
import type { ThresholdCrossing } from '../../ledger/ledger.ts'
import { countInstances } from '../../storage/instance-lock.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { openUsageSnapshot } from '../../storage/usage/usage-seeds.ts'
import type { RecordBarrier } from './records.ts'
import { openSeedSource } from './seed-source.ts'

export interface LedgerParts {
  /** undefined: this is the only gateway process. */
  readonly redisUrl: string | undefined
  readonly isFailOpen: boolean
  /** Whether this process is the supervisor of gateway workers. */
  readonly hasWorkers?: boolean
  readonly log: Logger
  /** Identifies this process. */
  readonly owner: string
  readonly storage: Storage
  /** Which records are in the database. */
  readonly stored: RecordBarrier
  readonly onException: OnException
  readonly onCrossing: (crossing: ThresholdCrossing) => void
}

/** Opens the ledger of this process: in memory, or shared with other processes over Redis if REDIS_URL is set. */
export async function openProcessLedger(parts: LedgerParts): Promise<OpenedLedger> {
  const { redisUrl, isFailOpen, hasWorkers = false, log, owner, storage, stored, onException } = parts
  return await openLedger({
    owner,
    // Called within a settlement, which must continue if an alert throws.
    onThresholdCrossed: crossing =>
      runGuarded('an alert of a limit', onException, () => parts.onCrossing(crossing)),
    seeds: openSeedSource({
      stored,
      openSnapshot: timeoutMs => openUsageSnapshot(storage.pool, timeoutMs),
    }),
    redisUrl,
    isFailOpen,
    hasWorkers,
    now: systemClock.now,
    log: line => log.warn(line),
    countProcesses: () => countInstances(storage.pool),
    drain: () => stored.flush(),
  })
}
