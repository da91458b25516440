import type { Logger } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { openIds } from '../../core/ids.ts'
import { systemRandom } from '../../core/random.ts'
import { listenOn } from '../../http/head/listen.ts'
import { within } from '../../http/within.ts'
import type { Connection } from '../../storage/connection.ts'
import { connectStorage } from '../../storage/open-storage.ts'
import { connectLoads } from '../../workers/messages/loads.ts'
import type { WorkerStart } from '../../workers/processes/worker-messages.ts'
import { type AppParts, DEFAULT_OVERRIDES } from '../parts/app-parts.ts'
import { openGateway } from '../parts/open-gateway.ts'
import { openBox, openEgress } from '../parts/open-parts.ts'
import { openWorkerLink } from '../parts/worker-link.ts'
import { closeAll } from '../process/close-all.ts'
import { retireGateway, type StopCounts } from '../process/close-server.ts'
import type { Exceptions } from '../process/exceptions.ts'
import { openSockets } from '../process/sockets.ts'
import type { Config } from '../settings/settings.ts'
import { openSpread } from './spread-requests.ts'

/** A gateway worker. */
export interface WorkerApp {
  /** Accepts connections on the handle of the shared port. */
  listen(handle: object): Promise<void>
  /**
   * Accepts no more, lets running requests end and writes their records. `isReplaced`: its callers go on with other workers.
   * Calls `onFinished` when no request runs any more, and resolves with what it measured.
   */
  close(isReplaced: boolean, onFinished: (counts: StopCounts) => void): Promise<unknown>
  /** Limits the time of running requests also if the worker is replaced, since nothing else serves now. */
  stopSoon(): void
  /** Ends the time of running requests. */
  cut(): void
}

/** Connections to the database of all workers together, two of each besides those that it shares: for changes and for records. */
const MAX_CONNECTIONS = 64
const MAX_WORKER_CONNECTIONS = 10
const MIN_WORKER_CONNECTIONS = 2
/** A worker that is not ready by then serves as it is. */
const READY_MS = 5_000
const POLL_MS = 5
/** A worker without requests that takes longer to close exits. Its supervisor replays its journal. */
const CLOSE_MS = 30_000

/** Opens what a gateway worker has of its own. Throws if a part cannot start. */
export async function openWorkerApp(
  config: Config,
  start: WorkerStart,
  log: Logger,
  exceptions: Exceptions,
): Promise<WorkerApp> {
  const closers: (() => Promise<void> | void)[] = []
  const cut = new AbortController()
  const retired = new AbortController()
  const logLine = (line: string): void => log.warn(line)
  const share = Math.floor(MAX_CONNECTIONS / (config.workers + 1)) - 2
  const max = Math.min(MAX_WORKER_CONNECTIONS, Math.max(MIN_WORKER_CONNECTIONS, share))
  const storage = connectStorage(start.connection as Connection, logLine, max)
  closers.push(() => storage.close())
  const { worker, socketPath } = start
  const link = await openWorkerLink({ path: socketPath, worker, log: logLine, onException: exceptions.note })
  closers.push(() => link.close())
  const parts: AppParts = {
    config,
    log,
    overrides: DEFAULT_OVERRIDES,
    exceptions,
    sockets: openSockets(config, closers),
    storage,
    secretBox: openBox(config),
    cut: cut.signal,
    closers,
    egress: openEgress(config, DEFAULT_OVERRIDES),
    newId: openIds(systemClock, systemRandom),
    baseUrl: () => start.baseUrl,
    gatewayUrl: () => start.gatewayUrl,
    worker: link,
  }
  const gateway = await openGateway(parts)
  const readyAt = performance.now() + READY_MS
  while (!gateway.getReadiness().ready && performance.now() < readyAt) {
    await new Promise<void>(resolve => setTimeout(resolve, POLL_MS))
  }
  const { server, runningRequests } = gateway
  let spread: { close(): void } | undefined
  return {
    async listen(handle) {
      await listenOn(server, handle, error => exceptions.note(error, 'the listener of the gateway'))
      const loads = connectLoads(link.calls)
      spread = openSpread(server, {
        running: () => runningRequests.size,
        loads,
        onException: exceptions.note,
      })
    },
    async close(isReplaced, onFinished) {
      spread?.close()
      if (isReplaced) await retireGateway(server, runningRequests, retired.signal)
      onFinished(await gateway.close())
      // The link is closed last, and the metrics are of no process then.
      const metrics = await gateway.readMetrics()
      const late = (): Error => new Error(`the parts of the worker were not closed in ${CLOSE_MS} ms`)
      await within(CLOSE_MS, closeAll(closers), late).catch(error => {
        log.error({ err: error }, 'a gateway worker could not stop cleanly')
        throw error
      })
      return metrics
    },
    stopSoon: () => retired.abort(),
    cut() {
      retired.abort()
      cut.abort()
    },
  }
}
