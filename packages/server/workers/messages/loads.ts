import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const LOAD = 'running requests'
const TIMEOUT_MS = 500

/** Tells each worker how many requests the others run. */
export function serveLoads(calls: SupervisorCalls): void {
  const known = new Map<string, number>()
  calls.handle(LOAD, (body, from) => {
    const { workers } = calls
    for (const name of known.keys()) if (!workers.includes(name)) known.delete(name)
    if (body === null) known.delete(from)
    else known.set(from, body as number)
    return [...known].filter(([name]) => name !== from).map(([, load]) => load)
  })
}

/** What a worker tells of itself and learns of the others. */
export interface SharedLoads {
  /** Reports how many requests this worker runs, and resolves with those of the others. Rejects without its supervisor. */
  report(load: number): Promise<readonly number[]>
  /** This worker takes no more requests. */
  withdraw(): void
}

export function connectLoads(calls: WorkerCalls): SharedLoads {
  return {
    report: async load => (await calls.call(LOAD, load, TIMEOUT_MS)) as readonly number[],
    withdraw: () => calls.notify(LOAD, null),
  }
}
