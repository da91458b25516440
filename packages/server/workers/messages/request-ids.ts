import { ClaimedIds } from '../../core/records/claimed-ids.ts'
import type { SupervisorCalls } from '../channel/supervisor-calls.ts'
import type { WorkerCalls } from '../channel/worker-calls.ts'

const CLAIM = 'claim a request id'
const TIMEOUT_MS = 500

/** Keeps the ids that callers choose unique over all workers. */
export function serveRequestIds(calls: SupervisorCalls): void {
  const ids = new ClaimedIds()
  calls.handle(CLAIM, body => ids.claim(...(body as [string, string])))
}

/** Returns what claims an id. It resolves with false if another request has it, or without the supervisor, which alone knows. */
export function connectRequestIds(
  calls: WorkerCalls,
): (environmentId: string, id: string) => Promise<boolean> {
  return async (environmentId, id) => {
    const claimed = await calls.call(CLAIM, [environmentId, id], TIMEOUT_MS).catch(() => false)
    return claimed === true
  }
}
