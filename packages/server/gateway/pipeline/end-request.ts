import type { Fault } from '../../core/fault.ts'
import type { RequestTrace } from '../../core/records/tracer.ts'
import { failureHeaders } from '../edge/answer-headers.ts'
import { sendFault } from '../edge/send.ts'
import { settle } from '../records/settle.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/**
 * Writes the record of a failed request and answers it. A fault that neither the caller nor a provider caused raises an
 * alarm. Never rejects: if the record or the answer fails too, the connection is closed.
 */
export async function endWithFault(ctx: RequestContext, fault: Fault, deps: PipelineDeps): Promise<void> {
  // The exception of a stopped request was reported when it was stopped.
  if (fault.code === 'internal_error' && fault !== ctx.stopped)
    deps.onException(fault.cause ?? fault, 'a step of a request', ctx.requestId)
  try {
    if (ctx.route.isMetered) await settle(ctx, { status: fault.status, fault }, deps)
  } catch (error) {
    deps.onException(error, 'the record of a failed request', ctx.requestId)
  }
  sendFaultOrClose(ctx, fault, deps)
}

/** Answers a failed request, or closes its connection. Never throws. */
export function sendFaultOrClose(ctx: RequestContext, fault: Fault, deps: PipelineDeps): void {
  try {
    sendFault(ctx, fault, deps.baseUrl(), failureHeaders(ctx, fault, deps))
  } catch (error) {
    deps.onException(error, 'the answer of a failed request', ctx.requestId)
    ctx.res.destroy()
  }
}

/** Releases the reservation of a request whose body was refused, unless an attempt was made before: it uses no limit. */
export function undoReservation(ctx: RequestContext): void {
  if (ctx.attempts.length > ctx.skippedAttempts) return
  ctx.reservation?.release()
  ctx.reservation = undefined
}

/** Releases what a request still reserves, and its idempotency key unless its answer was kept. Called at the end of every request; idempotent. Never throws. */
export function endRequest(ctx: RequestContext, deps: PipelineDeps): void {
  try {
    // Only a request that was not settled still has a reservation, and it used nothing.
    ctx.reservation?.release()
  } catch (error) {
    deps.onException(error, 'the release of a reservation', ctx.requestId)
  }
  try {
    ctx.recorder?.end()
  } catch (error) {
    deps.onException(error, 'the release of an idempotency key', ctx.requestId)
  }
  if (!ctx.markEnded()) return
  try {
    ctx.permit?.releaseOnceRead()
    deps.ticker.remove(ctx)
    deps.requestCounts.add(ctx.res.statusCode)
    if (ctx.route.isMetered && ctx.environment !== undefined)
      deps.runningRequests.remove(ctx.environment.id, ctx)
  } catch (error) {
    deps.onException(error, 'the end of a request', ctx.requestId)
  }
  if (ctx.trace !== undefined) endTrace(ctx, ctx.trace, deps)
}

function endTrace({ requestId, res }: RequestContext, trace: RequestTrace, deps: PipelineDeps): void {
  try {
    trace.end(requestId, res.headersSent ? res.statusCode : undefined)
  } catch (error) {
    deps.onException(error, 'the trace of a request', requestId)
  }
}
