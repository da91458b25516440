import { Fault } from '../../core/fault.ts'
import { isUuid } from '../../core/ids.ts'
import { sendJson } from '../edge/send.ts'
import { assertNoBody } from '../request/assert-no-body.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { RouteDeps } from './route-deps.ts'

/**
 * `POST /v1/requests/{request_id}/cancel`. Best effort: `canceled` is false if no process has such a request in flight. A request of
 * this process is canceled however many cancels were sent; asking the others is bounded by a rate.
 */
export async function serveCancel(ctx: IdentifiedContext, requestId: string, deps: RouteDeps): Promise<void> {
  if (!isUuid(requestId)) {
    throw new Fault('request_validation_failed', 'request_id: must be a UUID.', { param: 'request_id' })
  }
  await assertNoBody(ctx, deps.bodyTimeoutMs)
  const environmentId = ctx.environment.id
  const id = requestId.toLowerCase()
  // A caller with an end user can only cancel requests of that end user.
  const endUserId = ctx.caller.endUser?.id ?? null
  if (deps.runningRequests.cancel(environmentId, id, endUserId)) {
    return sendJson(ctx, 200, { request_id: requestId, canceled: true })
  }
  deps.fanOutRates.take(ctx, deps.now())
  const canceled = await deps.cancelElsewhere(environmentId, id, endUserId)
  sendJson(ctx, 200, { request_id: requestId, canceled })
}
