import type { OnException } from '../../core/on-exception.ts'
import type { OpenedLedger } from '../../ledger/failover/open-ledger.ts'
import { SocketLedger } from '../../ledger/socket/socket-ledger.ts'
import { WorkerCalls } from '../../workers/channel/worker-calls.ts'
import { WorkerChannel } from '../../workers/channel/worker-channel.ts'

export interface WorkerLinkOptions {
  /** Path of the supervisor's socket (SupervisorLink). */
  readonly path: string
  /** A UUID that identifies this worker process. One that replaces another has its own. */
  readonly worker: string
  readonly log: (line: string) => void
  readonly onException: OnException
  /** How long to wait for the supervisor before the worker starts without it. */
  readonly timeoutMs?: number
}

/** What a gateway worker shares with the others of its machine, in the forms that the gateway needs. */
export interface WorkerLink {
  readonly worker: string
  /** In the place of openProcessLedger's result. */
  readonly counting: OpenedLedger
  /** For connectCircuits, connectCancellations, connectConfigChanges and connectMetrics. */
  readonly calls: WorkerCalls
  /** Resolves once the supervisor has every settlement. Call it when no request runs any more. */
  close(): Promise<void>
}

const TIMEOUT_MS = 5000

/** Connects a gateway worker to its supervisor. */
export async function openWorkerLink(options: WorkerLinkOptions): Promise<WorkerLink> {
  const { path, worker, log, onException, timeoutMs = TIMEOUT_MS } = options
  const channel = new WorkerChannel({ path, worker, log })
  const ledger = new SocketLedger({ owner: worker, channel })
  const calls = new WorkerCalls(channel, onException)
  await channel.whenOpen(timeoutMs)
  return {
    worker,
    calls,
    counting: {
      ledger,
      countReservations: () => ledger.reservationCount,
      countLocalAdmissions: () => 0,
      // Only the supervisor knows which workers have ended.
      expireOwner: () => 0,
    },
    async close() {
      await ledger.close()
      channel.close()
    },
  }
}
