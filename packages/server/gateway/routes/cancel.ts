import { Fault } from '../../core/fault.ts'
import { isUuid } from '../../core/ids.ts'
import { sendJson } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RouteDeps } from './route-deps.ts'

/**
 * `POST /v1/requests/{request_id}/cancel`: best effort; `false` where nothing by that id is in flight, here or in another
 * gateway process.
 */
export async function serveCancel(ctx: IdentifiedContext, requestId: string, deps: RouteDeps): Promise<void> {
  if (!isUuid(requestId)) {
    throw new Fault('request_validation_failed', 'request_id: must be a UUID.', { param: 'request_id' })
  }
  const environmentId = ctx.environment.id
  const id = requestId.toLowerCase()
  // Who calls for one end user reaches the requests of that one alone.
  const endUserId = ctx.caller.endUser?.id ?? null
  const canceled =
    deps.inFlight.cancel(environmentId, id, endUserId) ||
    (await deps.cancelElsewhere(environmentId, id, endUserId))
  sendJson(ctx, 200, { request_id: requestId, canceled })
}
