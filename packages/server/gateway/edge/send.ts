import type { Fault } from '../../core/fault.ts'
import { faultHeaders } from '../../http/envelope.ts'
import { hasUnreadBody } from '../../http/read-body.ts'
import { writeHead } from '../../http/write-head.ts'
import type { Exchange } from '../request/request-context.ts'
import { corsHeaders } from './cors.ts'
import { MOUNTS } from './mounts.ts'

/** Some clients read the request's id from a header of their own name. */
export function idHeaders(x: Exchange): string[] {
  const { requestId, route } = x
  const { idHeader } = MOUNTS[route.mount]
  return idHeader === undefined
    ? ['X-Request-Id', requestId]
    : ['X-Request-Id', requestId, idHeader, requestId]
}

/** What every failure looks like, in the shape of the surface that was called. */
function encodeFault({ requestId, route }: Exchange, fault: Fault, baseUrl: string): object {
  return MOUNTS[route.mount].encodeFault(fault, requestId, baseUrl)
}

export function sendJson(x: Exchange, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body))
  writeHead(x.res, status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(bytes.length),
    ...idHeaders(x),
    ...corsHeaders(x),
  ])
  x.res.end(bytes)
}

/** An unread upload is waited out this long, so that the caller reads our answer before the connection closes. */
const LINGER_MS = 10_000

/** Tells the caller of a fault: as an answer, or as the last frame of a stream that has begun. */
export function sendFault(x: Exchange, fault: Fault, baseUrl: string): void {
  const { res } = x
  if (x.isGone || res.writableEnded) return
  if (res.headersSent) {
    if (x.encodeStreamFault === undefined) res.destroy()
    else res.end(x.encodeStreamFault(fault))
    return
  }
  const bytes = Buffer.from(JSON.stringify(encodeFault(x, fault, baseUrl)))
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(bytes.length),
    ...idHeaders(x),
    ...Object.entries(faultHeaders(fault)).flat(),
    ...(MOUNTS[x.route.mount].faultHeaders?.(fault) ?? []),
    ...corsHeaders(x),
  ]
  if (hasUnreadBody(x.req)) {
    writeHead(res, fault.status, [...headers, 'Connection', 'close'])
    endAfterUpload(x, bytes)
  } else {
    writeHead(res, fault.status, headers)
    res.end(bytes)
  }
}

/**
 * Answers at once, but ends only when the rest of the upload was read or waited for: closing earlier would reset the
 * connection and could take our answer with it.
 */
function endAfterUpload({ req, res }: Exchange, bytes: Buffer): void {
  res.write(bytes)
  const end = (): void => {
    clearTimeout(timer)
    res.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  timer.unref()
  req.once('end', end)
  req.once('close', end)
  req.resume()
}
