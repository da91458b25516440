import type { Fault } from '../../core/fault.ts'
import { faultHeaders } from '../../http/answer/envelope.ts'
import { writeHead } from '../../http/answer/write-head.ts'
import { dropRest } from '../../http/body/drop-rest.ts'
import { hasUnreadBody } from '../../http/body/read-body.ts'
import type { RequestContext } from '../request/request-context.ts'
import { corsHeaders } from './cors.ts'

/** Returns the headers that carry the request id. Some formats have a header of their own for it. */
export function idHeaders(ctx: RequestContext): string[] {
  const { requestId, route } = ctx
  const { idHeader } = route.mount
  return idHeader === undefined
    ? ['X-Request-Id', requestId]
    : ['X-Request-Id', requestId, idHeader, requestId]
}

/** Encodes a fault in the format of the mount that was called. */
function encodeFault({ requestId, route }: RequestContext, fault: Fault, baseUrl: string): object {
  return route.mount.encodeFault(fault, requestId, baseUrl)
}

const NONE: readonly string[] = []

/** `more`: further headers as [name, value, ...]. */
export function sendJson(ctx: RequestContext, status: number, body: unknown, more = NONE): void {
  sendJsonBytes(ctx, status, Buffer.from(JSON.stringify(body)), more)
}

/** Sends JSON that was encoded before. The bytes may be sent to many callers. */
export function sendJsonBytes(ctx: RequestContext, status: number, bytes: Buffer, more = NONE): void {
  writeHead(ctx.res, status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(bytes.length),
    ...idHeaders(ctx),
    ...corsHeaders(ctx),
    ...more,
  ])
  ctx.res.end(bytes)
}

/**
 * Sends a fault to the caller: as an answer, or as the last frame of a stream that has begun. `more`: further headers of an answer
 * as [name, value, ...].
 */
export function sendFault(ctx: RequestContext, fault: Fault, baseUrl: string, more = NONE): void {
  const { res } = ctx
  if (ctx.isGone || res.writableEnded) return
  if (res.headersSent) {
    if (ctx.encodeStreamFault === undefined) res.destroy()
    else res.end(ctx.encodeStreamFault(fault))
    return
  }
  const bytes = Buffer.from(JSON.stringify(encodeFault(ctx, fault, baseUrl)))
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(bytes.length),
    ...idHeaders(ctx),
    ...Object.entries(faultHeaders(fault)).flat(),
    ...fault.headers,
    ...more,
    ...(ctx.route.mount.faultHeaders?.(fault) ?? []),
    ...corsHeaders(ctx),
  ]
  if (hasUnreadBody(ctx.req)) {
    writeHead(res, fault.status, [...headers, 'Connection', 'close'])
    endAfterUpload(ctx, bytes)
  } else {
    writeHead(res, fault.status, headers)
    res.end(bytes)
  }
}

/** Sends the answer at once, but ends it only when the rest of the upload was read, or too much or too long. */
function endAfterUpload({ req, res }: RequestContext, bytes: Buffer): void {
  // A write to an answer without a body does not send its head.
  if (req.method === 'HEAD') res.flushHeaders()
  else res.write(bytes)
  dropRest(req, () => void res.end())
}
