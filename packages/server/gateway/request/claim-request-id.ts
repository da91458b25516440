import { within } from '../../http/within.ts'
import type { RequestContext } from './request-context.ts'
import type { RequestDeps } from './request-deps.ts'

/** A frozen database must not hold requests: then the id counts as taken. */
const MAX_CHECK_MS = 2_000

/**
 * Registers a request as in flight. A caller's own id must be unused in its environment; one that is in flight or
 * logged is replaced by the gateway's id.
 */
export function claimRequestId(
  ctx: RequestContext,
  environmentId: string,
  deps: RequestDeps,
): void | Promise<void> {
  if (ctx.requestId === ctx.id) {
    deps.runningRequests.add(environmentId, ctx)
    return
  }
  if (!deps.runningRequests.add(environmentId, ctx)) {
    ctx.requestId = ctx.id
    deps.runningRequests.add(environmentId, ctx)
    return
  }
  return replaceIfLogged(ctx, environmentId, deps)
}

async function replaceIfLogged(ctx: RequestContext, environmentId: string, deps: RequestDeps): Promise<void> {
  const claimed = ctx.requestId
  const checking = deps.isRequestIdTaken(environmentId, claimed)
  const isTaken = await within(MAX_CHECK_MS, checking, () => new Error('the log did not answer')).catch(
    () => true,
  )
  if (!isTaken) return
  deps.runningRequests.remove(environmentId, ctx)
  ctx.requestId = ctx.id
  deps.runningRequests.add(environmentId, ctx)
}
