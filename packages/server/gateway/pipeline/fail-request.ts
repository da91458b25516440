import type { Bill } from '@rideau/llm/usage/bill'
import { toFault } from '../../core/fault.ts'
import { settle } from '../records/settle.ts'
import type { FailRequest, RequestContext } from '../request/request-context.ts'
import type { TickerEntry } from '../request/ticker.ts'
import { endRequest, sendFaultOrClose } from './end-request.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/**
 * Returns a function that ends one request after an exception in a timer, listener or callback. It raises an alarm and
 * stops the request, so that the step that waits answers and settles it as after a cancel. If no step waits, or the
 * step does not stop, the request is ended by force within two ticks.
 */
export function openFailRequest(deps: PipelineDeps): FailRequest {
  const failing = new WeakSet<RequestContext>()
  return (ctx, error, where) => {
    deps.onException(error, where, ctx.requestId)
    if (ctx.phase === 'ended' || failing.has(ctx)) return
    failing.add(ctx)
    ctx.stop(toFault(error))
    deps.ticker.add(new ForcedEnd(ctx, error, deps))
  }
}

/** Ends a request by force, after it had a full interval of the ticker to end by itself. */
class ForcedEnd implements TickerEntry {
  tickerSlot = -1
  readonly #ctx: RequestContext
  readonly #error: unknown
  readonly #deps: PipelineDeps
  #ticks = 0

  constructor(ctx: RequestContext, error: unknown, deps: PipelineDeps) {
    this.#ctx = ctx
    this.#error = error
    this.#deps = deps
  }

  tick(): void {
    if (this.#ctx.phase !== 'ended' && ++this.#ticks < 2) return
    this.#deps.ticker.remove(this)
    if (this.#ctx.phase !== 'ended') endByForce(this.#ctx, this.#error, this.#deps)
  }

  fail(error: unknown, where: string): void {
    this.#deps.ticker.remove(this)
    this.#deps.onException(error, where, this.#ctx.requestId)
  }
}

function endByForce(ctx: RequestContext, error: unknown, deps: PipelineDeps): void {
  const fault = toFault(error)
  try {
    const bill = toReservedBill(ctx)
    const outcome = { status: fault.status, fault, ...(bill === undefined ? {} : { bill }) }
    const writing = ctx.route.isMetered ? settle(ctx, outcome, deps) : undefined
    writing?.catch(late => deps.onException(late, 'the record of a failed request', ctx.requestId))
  } catch (another) {
    deps.onException(another, 'the record of a failed request', ctx.requestId)
  }
  sendFaultOrClose(ctx, fault, deps)
  // Its steps must not write to the connection any more.
  ctx.isGone = true
  endRequest(ctx, deps)
}

/**
 * Bills what is reserved, since a provider may have been called and the output is unknown. A killed process is billed
 * alike.
 */
function toReservedBill({ reservation, firstAttemptAt, recordFields }: RequestContext): Bill | undefined {
  if (firstAttemptAt === undefined || recordFields.answered !== undefined || reservation === undefined)
    return undefined
  const { tokens, nanoUsd } = reservation.amounts
  const usage = { uncachedInput: tokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  return { usage, isEstimated: true, costNanoUsd: tokens === 0 && nanoUsd === 0 ? null : nanoUsd }
}
