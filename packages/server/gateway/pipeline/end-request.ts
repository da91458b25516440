import type { Fault } from '../../core/fault.ts'
import { sendFault } from '../edge/send.ts'
import { settle } from '../records/settle.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/**
 * Writes the record of a request that failed, and answers it; what is no fault of the caller or a provider is an alarm. Never
 * rejects: where the record or the answer throws too, the caller's connection is cut.
 */
export async function endWithFault(ctx: RequestContext, fault: Fault, deps: PipelineDeps): Promise<void> {
  // A stopped request was alarmed of where it was stopped.
  if (fault.code === 'internal_error' && fault !== ctx.stopped)
    deps.onException(fault.cause ?? fault, 'a step of a request', ctx.requestId)
  try {
    if (ctx.route.isMetered) await settle(ctx, { status: fault.status, fault }, deps)
  } catch (error) {
    deps.onException(error, 'the record of a failed request', ctx.requestId)
  }
  answerFault(ctx, fault, deps)
}

/** Answers a request that failed, or cuts its connection. Never throws. */
export function answerFault(ctx: RequestContext, fault: Fault, deps: PipelineDeps): void {
  try {
    sendFault(ctx, fault, deps.baseUrl())
  } catch (error) {
    deps.onException(error, 'the answer of a failed request', ctx.requestId)
    ctx.res.destroy()
  }
}

/** Gives back what the request still holds. Called at its end, whatever came of it; a second call changes nothing. Never throws. */
export function endRequest(ctx: RequestContext, deps: PipelineDeps): void {
  try {
    // What no step settled was never used.
    ctx.reservation?.release()
  } catch (error) {
    deps.onException(error, 'the release of a reservation', ctx.requestId)
  }
  if (ctx.isEnded) return
  ctx.isEnded = true
  try {
    deps.ticker.remove(ctx)
    deps.requestCounts.add(ctx.res.statusCode)
    if (ctx.route.isMetered && ctx.environment !== undefined) deps.inFlight.remove(ctx.environment.id, ctx)
  } catch (error) {
    deps.onException(error, 'the end of a request', ctx.requestId)
  }
}
