import { Fault } from '../../core/fault.ts'
import { isUuid } from '../../core/ids.ts'
import type { GatewayDeps } from '../deps.ts'
import { canceledFault, type Exchange } from '../exchange.ts'
import { sendJson } from '../send.ts'

/** `POST /v1/requests/{request_id}/cancel`: best effort; `false` where nothing by that id is in flight here. */
export function serveCancel(x: Exchange, requestId: string, deps: GatewayDeps): void {
  if (!isUuid(requestId)) {
    throw new Fault('request_validation_failed', 'request_id: must be a UUID.', { param: 'request_id' })
  }
  const running = deps.inFlight.find(x.environment?.id ?? '', requestId.toLowerCase())
  running?.stop(canceledFault())
  sendJson(x, 200, { request_id: requestId, canceled: running !== undefined })
}
