import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const METRICS = 'metrics'
/** A scrape takes no longer, whatever a worker does. */
const TIMEOUT_MS = 1000

/** Lets the supervisor read the metrics of this worker. `read` returns them as JSON (http/metrics/metrics.ts, createRegistry). */
export function connectMetrics(calls: WorkerCalls, read: () => Promise<unknown>): void {
  calls.handle(METRICS, read)
}

/** Returns what asks all connected workers for their metrics, by the names of the workers (http/metrics/merged-metrics.ts). */
export function serveMetrics<T>(calls: SupervisorCalls): () => Promise<ReadonlyMap<string, T>> {
  return async () => (await calls.callAll(METRICS, null, TIMEOUT_MS)) as ReadonlyMap<string, T>
}
