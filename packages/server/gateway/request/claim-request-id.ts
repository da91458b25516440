import type { RequestContext } from './request-context.ts'
import type { RequestDeps } from './request-deps.ts'

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
