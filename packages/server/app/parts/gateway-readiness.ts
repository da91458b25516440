import type { Snapshots } from '../../gateway/tenants/snapshots.ts'
import type { Readiness } from '../../http/metrics/readiness.ts'
import type { Drain } from '../../journal/drain.ts'
import type { OpenedLedger } from '../../ledger/failover/open-ledger.ts'
import { connectReadiness } from '../../workers/messages/readiness.ts'
import type { Config } from '../settings/settings.ts'
import type { AppParts } from './app-parts.ts'

/** Returns readiness and its reasons. Lost shared counting is a reason, but with `limitsFailOpen` the process stays ready. */
export function readinessOf(
  snapshots: Snapshots,
  { ledger }: OpenedLedger,
  drain: Drain,
  config: Config,
): Readiness {
  const { isHealthy, reasons } = ledger.health()
  const isLost = snapshots.isLost()
  const isFull = drain.isFull()
  const isRefusing = isFull && (config.journalFull === 'refuse' || drain.isMemoryFull())
  return {
    ready: !isLost && (isHealthy || config.limitsFailOpen) && !isRefusing,
    reasons: [
      ...(isLost ? ['the database does not announce changes'] : []),
      ...(isFull
        ? ['the journal is full or cannot be written: usage records do not reach the database']
        : []),
      ...reasons,
    ],
  }
}

/** Returns the readiness of this process, or of all workers together. */
export function openReadiness(
  { worker, exceptions, closers }: AppParts,
  own: () => Readiness,
): () => Readiness {
  if (worker === undefined) return own
  const shared = connectReadiness(worker.calls, own, exceptions.note)
  closers.push(() => shared.close())
  return shared.all
}
