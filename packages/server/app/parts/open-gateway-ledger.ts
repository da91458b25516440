import type { OpenedLedger } from '../../ledger/failover/open-ledger.ts'
import type { AppParts } from './app-parts.ts'
import { openAlerts } from './jobs.ts'
import { openProcessLedger } from './ledger.ts'
import type { RecordBarrier } from './records.ts'

/** Opens the ledger, and the alerts that it raises. `stored`: waits for records that must be in the database before either reads it. */
export async function openGatewayLedger(
  { config, log, exceptions, storage, closers, newId }: AppParts,
  stored: RecordBarrier,
  hasWorkers = false,
): Promise<OpenedLedger> {
  // Closed after the ledger, which may report crossings until it is closed.
  const alerts = openAlerts({ storage, log }, newId, () => stored.flush())
  closers.push(() => alerts.close())
  const counting = await openProcessLedger({
    redisUrl: config.redisUrl,
    isFailOpen: config.limitsFailOpen,
    hasWorkers,
    log,
    owner: newId(),
    storage,
    stored,
    onException: exceptions.note,
    onCrossing: ({ meter, settled }) => {
      if (meter.kind === 'fixed') alerts.note({ meter, settled })
    },
  })
  closers.push(() => counting.ledger.close())
  return counting
}
