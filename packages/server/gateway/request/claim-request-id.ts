import type { RequestContext } from './request-context.ts'
import type { RequestDeps } from './request-deps.ts'

/**
 * Enters the request among those in flight. A caller's own id holds only where the environment has never seen it: one
 * already in flight or logged is replaced by ours (contract.md §1).
 */
export function claimRequestId(
  ctx: RequestContext,
  environmentId: string,
  deps: RequestDeps,
): void | Promise<void> {
  if (ctx.requestId === ctx.id) {
    deps.inFlight.add(environmentId, ctx)
    return
  }
  if (!deps.inFlight.add(environmentId, ctx)) {
    ctx.requestId = ctx.id
    deps.inFlight.add(environmentId, ctx)
    return
  }
  return checkLog(ctx, environmentId, deps)
}

async function checkLog(ctx: RequestContext, environmentId: string, deps: RequestDeps): Promise<void> {
  const claimed = ctx.requestId
  const isTaken = await deps.isRequestLogged(environmentId, claimed).catch(() => true)
  if (!isTaken) return
  deps.inFlight.remove(environmentId, ctx)
  ctx.requestId = ctx.id
  deps.inFlight.add(environmentId, ctx)
}
