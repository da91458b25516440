import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const TAKEN = 'requests counted'

/** Tells each worker which requests the front doors of the others have counted. */
export function serveRates(calls: SupervisorCalls): void {
  calls.handle(TAKEN, (body, from) => calls.notifyAll(TAKEN, body, from))
}

/**
 * Shares the token buckets of this worker's front door (gateway/edge/front-door.ts). Without its supervisor each worker
 * counts alone.
 */
export function connectRates<Kind extends string>(
  calls: WorkerCalls,
  take: (kind: Kind, key: string, count: number) => void,
): { publish(kind: Kind, key: string, count: number): void } {
  calls.handle(TAKEN, body => {
    const [kind, key, count] = body as [Kind, string, number]
    take(kind, key, count)
  })
  return {
    publish(kind, key, count) {
      calls.notify(TAKEN, [kind, key, count])
    },
  }
}
