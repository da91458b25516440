import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

/** Cancels a request of this process. Returns false where it runs no request of that id. */
type CancelLocal = (environmentId: string, requestId: string, endUserId: string | null) => boolean

const CANCEL = 'cancel'
const CANCEL_LOCAL = 'cancel here'
/** Answers that take longer are ignored. */
const TIMEOUT_MS = 1000

/** Passes the cancels of each worker to the others. */
export function serveCancellations(calls: SupervisorCalls): void {
  calls.handle(CANCEL, (body, from) => calls.callUntilTrue(CANCEL_LOCAL, body, TIMEOUT_MS, from))
}

/**
 * Lets other workers cancel requests of this one. Returns what cancels a request in the worker that runs it: it resolves
 * with false where none runs it or the supervisor is unreachable.
 */
export function connectCancellations(
  calls: WorkerCalls,
  { cancelLocal, log }: { readonly cancelLocal: CancelLocal; readonly log: (line: string) => void },
): (environmentId: string, requestId: string, endUserId: string | null) => Promise<boolean> {
  calls.handle(CANCEL_LOCAL, body => {
    const [environmentId, requestId, endUserId] = body as Parameters<CancelLocal>
    return cancelLocal(environmentId, requestId, endUserId)
  })
  return async (environmentId, requestId, endUserId) => {
    try {
      // The supervisor waits for the workers first.
      return (await calls.call(CANCEL, [environmentId, requestId, endUserId], 2 * TIMEOUT_MS)) === true
    } catch (error) {
      log(`a cancel could not be sent to the other workers: ${(error as Error).message}`)
      return false
    }
  }
}
