import { authorizeRequest } from '@rideau/llm/upstream/authorize-request'
import type { Grant } from '@rideau/llm/upstream/outgoing-rules'
import type { Target } from '@rideau/llm/upstream/target'
import type { EncodedRequest, UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import type { Fault } from '../../core/fault.ts'
import { writeBody } from '../../http/body/write-body.ts'
import type { WatchedContext } from './attempt-whole.ts'

/**
 * Writes the body of a request and puts the target's credential on it (`authorizeRequest`). Returns a promise if the body is so long that
 * it is written in slices; it rejects with the fault of a request that is stopped meanwhile. `now`: Unix milliseconds.
 */
export function authorizeWritten(
  encoded: EncodedRequest,
  ctx: WatchedContext,
  target: Target,
  now: () => number,
  grant: Grant,
): UpstreamRequest | Promise<UpstreamRequest> {
  const authorize = (request: UpstreamRequest): UpstreamRequest => {
    authorizeRequest(request, target, now(), grant)
    return request
  }
  return isWritten(encoded) ? authorize(encoded) : write(encoded, ctx).then(authorize)
}

function isWritten(request: EncodedRequest): request is UpstreamRequest {
  return !('pieces' in request.body)
}

async function write(encoded: EncodedRequest, ctx: WatchedContext): Promise<UpstreamRequest> {
  let stop: Fault | undefined
  ctx.watch(undefined, fault => {
    stop = fault
  })
  try {
    const body = await writeBody(encoded.body, ctx, () => stop !== undefined)
    if (stop !== undefined) throw stop
    return { ...encoded, body }
  } finally {
    ctx.unwatch()
  }
}
