import type { Bill } from '@rideau/llm/usage/bill'
import { toFault } from '../../core/fault.ts'
import type { GatewayDeps } from '../deps.ts'
import { settle } from '../records/settle.ts'
import type { Exchange, FailRequest } from '../request/request-context.ts'
import type { Ticking } from '../request/ticker.ts'
import { answerFault, endRequest } from './end-request.ts'

/**
 * Ends one request after an exception in a timer, a listener or a callback of it: logs an alarm and stops the request, so that
 * the step which waits answers and settles it as for a cancel. A request of which no step waits, or whose step cannot be
 * stopped, is ended by force within two ticks.
 */
export function openFailRequest(deps: GatewayDeps): FailRequest {
  const failing = new WeakSet<Exchange>()
  return (x, error, where) => {
    deps.onException(error, where, x.requestId)
    if (x.isEnded || failing.has(x)) return
    failing.add(x)
    x.stop(toFault(error))
    deps.ticker.add(new ForcedEnd(x, error, deps))
  }
}

/** Leaves one whole interval of the ticker to the request itself. */
class ForcedEnd implements Ticking {
  tickerSlot = -1
  readonly #x: Exchange
  readonly #error: unknown
  readonly #deps: GatewayDeps
  #ticks = 0

  constructor(x: Exchange, error: unknown, deps: GatewayDeps) {
    this.#x = x
    this.#error = error
    this.#deps = deps
  }

  tick(): void {
    if (!this.#x.isEnded && ++this.#ticks < 2) return
    this.#deps.ticker.remove(this)
    if (!this.#x.isEnded) endByForce(this.#x, this.#error, this.#deps)
  }

  fail(error: unknown, where: string): void {
    this.#deps.ticker.remove(this)
    this.#deps.onException(error, where, this.#x.requestId)
  }
}

function endByForce(x: Exchange, error: unknown, deps: GatewayDeps): void {
  const fault = toFault(error)
  try {
    const bill = toHeldBill(x)
    const outcome = { status: fault.status, fault, ...(bill === undefined ? {} : { bill }) }
    const writing = x.route.isMetered ? settle(x, x.facts, outcome, deps) : undefined
    writing?.catch(late => deps.onException(late, 'the record of a failed request', x.requestId))
  } catch (another) {
    deps.onException(another, 'the record of a failed request', x.requestId)
  }
  answerFault(x, fault, deps)
  // What its steps still do finds nobody to write to.
  x.isGone = true
  endRequest(x, deps)
}

/** A provider may have been called, and nobody knows how far it got: what is held counts, as for a killed process. */
function toHeldBill({ admission, calledAt, facts }: Exchange): Bill | undefined {
  if (calledAt === undefined || facts.answered !== undefined || admission === undefined) return undefined
  const { tokens, nanoUsd } = admission.hold
  const usage = { uncachedInput: tokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  return { usage, isEstimated: true, costNanoUsd: tokens === 0 && nanoUsd === 0 ? null : nanoUsd }
}
