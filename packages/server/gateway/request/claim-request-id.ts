import type { GatewayDeps } from '../deps.ts'
import type { Exchange } from './request-context.ts'

/**
 * Enters the exchange among those in flight. A caller's own id holds only where the environment has never seen it: one
 * already in flight or logged is replaced by ours (contract.md §1).
 */
export function claimRequestId(x: Exchange, environmentId: string, deps: GatewayDeps): void | Promise<void> {
  if (x.requestId === x.id) {
    deps.inFlight.add(environmentId, x)
    return
  }
  if (!deps.inFlight.add(environmentId, x)) {
    x.requestId = x.id
    deps.inFlight.add(environmentId, x)
    return
  }
  return checkLog(x, environmentId, deps)
}

async function checkLog(x: Exchange, environmentId: string, deps: GatewayDeps): Promise<void> {
  const claimed = x.requestId
  const isTaken = await deps.isRequestLogged(environmentId, claimed).catch(() => true)
  if (!isTaken) return
  deps.inFlight.remove(environmentId, x)
  x.requestId = x.id
  deps.inFlight.add(environmentId, x)
}
