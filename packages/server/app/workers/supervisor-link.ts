// How gateway workers share state (docs/decisions/0043-workers-share-one-ledger.md). The supervisor opens its ledger with
// `hasWorkers` and calls openSupervisorLink before it starts workers; each worker gets the path and a UUID of its own, calls
// openWorkerLink and sets AppParts.worker, by which open-gateway.ts and the parts that it opens choose what they share. What
// is left to whoever starts the processes: openConfigNotifications of the supervisor feeds `configChanges`, whose barrier is
// the control plane's `afterWrite`; `metrics.merge` goes to createMetricsServer there, and a worker calls connectMetrics
// instead of opening that server. When a worker's process has ended, the supervisor replays its journal, then calls settleRecovered and expireOwner of the
// ledger, `metrics.noteEnded` and removeOwners of the idempotency keys, all by the worker's name. A worker closes its
// link last, when no request runs any more.
import type { Clock } from '../../core/clock.ts'
import type { OnException } from '../../core/on-exception.ts'
import { MergedMetrics, type ProcessMetrics } from '../../http/metrics/merged-metrics.ts'
import type { ServedLedger } from '../../ledger/socket/ledger-session.ts'
import { serveLedger } from '../../ledger/socket/serve-ledger.ts'
import { SupervisorCalls } from '../../workers/channel/supervisor-calls.ts'
import { SupervisorChannel } from '../../workers/channel/supervisor-channel.ts'
import { serveCancellations } from '../../workers/messages/cancellations.ts'
import { serveCircuits } from '../../workers/messages/circuit-messages.ts'
import { type ConfigChanges, serveConfigChanges } from '../../workers/messages/config-changes.ts'
import { serveHoldings } from '../../workers/messages/holdings.ts'
import { flushJournals, serveFlush } from '../../workers/messages/journals.ts'
import { serveLoadedSnapshots } from '../../workers/messages/loaded-snapshots.ts'
import { serveLoads } from '../../workers/messages/loads.ts'
import { serveMetrics } from '../../workers/messages/metrics.ts'
import { serveRates } from '../../workers/messages/rates.ts'
import { type SharedReadiness, serveReadiness } from '../../workers/messages/readiness.ts'
import { serveRequestIds } from '../../workers/messages/request-ids.ts'

export interface SupervisorLinkOptions {
  /** The folder of the socket, which only this process's user may enter. No other supervisor uses it. */
  readonly folder: string
  /** A ProcessLedger with `hasWorkers` or, with Redis, what openLedger returns. */
  readonly ledger: ServedLedger
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly onException: OnException
}

/** What the supervisor shares among its gateway workers. */
export interface SupervisorLink {
  /** Path of the socket, for openWorkerLink. */
  readonly path: string
  /** Takes the callbacks of openConfigNotifications; the control plane waits for its barrier after a write. */
  readonly configChanges: ConfigChanges
  /** For createMetricsServer. */
  readonly metrics: MergedMetrics
  readonly readiness: SharedReadiness
  /** Returns the names of the workers all of whose records so far are in the database. */
  flushJournals(): Promise<ReadonlySet<string>>
  close(): Promise<void>
}

/** Opens the socket of the workers and serves everything that they share. */
export async function openSupervisorLink(options: SupervisorLinkOptions): Promise<SupervisorLink> {
  const { folder, ledger, clock, log, onException } = options
  const channel = await SupervisorChannel.open({ folder, log, onException })
  const endLedger = serveLedger(channel, ledger, { now: clock.now, onException })
  const calls = new SupervisorCalls(channel, onException)
  serveCancellations(calls)
  serveCircuits(calls, clock.now)
  serveRates(calls)
  serveHoldings(calls)
  serveRequestIds(calls)
  serveFlush(calls)
  serveLoads(calls)
  serveLoadedSnapshots(calls)
  return {
    path: channel.path,
    configChanges: serveConfigChanges(calls),
    metrics: new MergedMetrics(serveMetrics<ProcessMetrics>(calls)),
    readiness: serveReadiness(calls),
    flushJournals: () => flushJournals(calls),
    async close() {
      endLedger()
      await channel.close()
    },
  }
}
