import type { Fault } from '../../core/fault.ts'
import type { GatewayDeps } from '../deps.ts'
import { sendFault } from '../edge/send.ts'
import { settle } from '../records/settle.ts'
import type { Exchange } from '../request/request-context.ts'

/**
 * Writes the record of a request that failed, and answers it; what is no fault of the caller or a provider is an alarm. Never
 * rejects: where the record or the answer throws too, the caller's connection is cut.
 */
export async function endWithFault(x: Exchange, fault: Fault, deps: GatewayDeps): Promise<void> {
  // A stopped request was alarmed of where it was stopped.
  if (fault.code === 'internal_error' && fault !== x.stopped)
    deps.onException(fault.cause ?? fault, 'a step of a request', x.requestId)
  try {
    if (x.route.isMetered) await settle(x, x.facts, { status: fault.status, fault }, deps)
  } catch (error) {
    deps.onException(error, 'the record of a failed request', x.requestId)
  }
  answerFault(x, fault, deps)
}

/** Answers a request that failed, or cuts its connection. Never throws. */
export function answerFault(x: Exchange, fault: Fault, deps: GatewayDeps): void {
  try {
    sendFault(x, fault, deps.baseUrl())
  } catch (error) {
    deps.onException(error, 'the answer of a failed request', x.requestId)
    x.res.destroy()
  }
}

/** Gives back what the request still holds. Called at its end, whatever came of it; a second call changes nothing. Never throws. */
export function endRequest(x: Exchange, deps: GatewayDeps): void {
  try {
    // What no step settled was never used.
    x.admission?.release()
  } catch (error) {
    deps.onException(error, 'the release of a reservation', x.requestId)
  }
  if (x.isEnded) return
  x.isEnded = true
  try {
    deps.ticker.remove(x)
    deps.requestCounts.add(x.res.statusCode)
    if (x.route.isMetered && x.environment !== undefined) deps.inFlight.remove(x.environment.id, x)
  } catch (error) {
    deps.onException(error, 'the end of a request', x.requestId)
  }
}
