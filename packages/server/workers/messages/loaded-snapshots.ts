import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const LOADED = 'snapshot loaded'
const KNOWN = 'snapshots that are loaded'
/** The newest that a worker which starts later learns of. */
const MAX_KNOWN = 1_000

/** Tells each worker what the others have loaded from the database. */
export function serveLoadedSnapshots(calls: SupervisorCalls): void {
  const known = new Map<string, unknown>()
  calls.handle(LOADED, (body, from) => {
    const name = JSON.stringify(body)
    known.delete(name)
    known.set(name, body)
    const [oldest] = known.keys()
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
    calls.notifyAll(LOADED, body, from)
  })
  calls.handle(KNOWN, (_, worker) => {
    for (const body of known.values()) calls.notify(worker, LOADED, body)
  })
}

/** Calls `onLoaded` with what the other workers have loaded, and returns what tells them of this worker's. */
export function connectLoadedSnapshots<Name>(
  calls: WorkerCalls,
  onLoaded: (name: Name) => void,
): (name: Name) => void {
  calls.handle(LOADED, body => onLoaded(body as Name))
  calls.onConnection(
    () => calls.notify(KNOWN, null),
    () => {},
  )
  return name => calls.notify(LOADED, name)
}
