import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const FLUSH = 'flush the journal'
const FLUSH_ALL = 'flush all journals'
/** Requests wait for this, so a worker that takes longer is not waited for. */
const TIMEOUT_MS = 8000

/** Lets the supervisor wait until every record that this worker has written so far is in the database. */
export function handleFlush(calls: WorkerCalls, flush: () => Promise<void>): void {
  calls.handle(FLUSH, async () => {
    await flush()
    return true
  })
}

/** Asks all connected workers to flush their journals. Returns the names of those that have. */
export async function flushJournals(calls: SupervisorCalls): Promise<ReadonlySet<string>> {
  return new Set((await calls.callAll(FLUSH, null, TIMEOUT_MS)).keys())
}

/** Lets a worker wait until the records of all workers are in the database. */
export function serveFlush(calls: SupervisorCalls): void {
  calls.handle(FLUSH_ALL, async (_, from) => {
    await calls.callAll(FLUSH, null, TIMEOUT_MS, from)
    return true
  })
}

/** Waits until every record that the other workers have written so far is in the database, for some seconds at most. */
export async function flushOthers(calls: WorkerCalls): Promise<void> {
  await calls.call(FLUSH_ALL, null, TIMEOUT_MS).catch(() => {})
}
