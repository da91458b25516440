import { authorizeRequest, isSigned } from '@rideau/llm/upstream/authorize-request'
import type { Grant } from '@rideau/llm/upstream/outgoing-rules'
import type { Target } from '@rideau/llm/upstream/target'
import type { EncodedRequest, UpstreamRequest } from '@rideau/llm/upstream/upstream-request'
import { digestBody } from '../../http/body/digest-body.ts'
import { WRITTEN_REQUEST_BYTES, writeBody } from '../../http/body/write-body.ts'
import type { AttemptResult } from './attempt-result.ts'
import { STOPPED, type WatchedContext } from './attempt-whole.ts'

/** Whose request is written, and what its credential may send. */
export interface Authorization {
  readonly ctx: WatchedContext
  readonly target: Target
  /** Unix milliseconds. */
  readonly now: () => number
  readonly grant: Grant
}

/** Longer bodies are digested in slices. */
const SHORT_BYTES = 256 * 1024

/**
 * Writes the body of a request and puts the target's credential on it (`authorizeRequest`). Returns a promise if the body is so long that
 * it is written, or digested for a signature, in slices; it resolves with undefined if the request is stopped meanwhile, and rejects
 * with `request_too_large` above WRITTEN_REQUEST_BYTES.
 */
export function authorizeWritten(
  encoded: EncodedRequest,
  { ctx, target, now, grant }: Authorization,
): UpstreamRequest | Promise<UpstreamRequest | undefined> {
  const authorize = (request: UpstreamRequest): UpstreamRequest => {
    authorizeRequest(request, target, now(), grant)
    return request
  }
  if (isWritten(encoded) && !isDigested(encoded.body, target)) return authorize(withType(encoded))
  return write(encoded, ctx, target).then(request => (request === undefined ? undefined : authorize(request)))
}

/**
 * Makes a call once its request is written and authorized. One that is stopped before fails as one that was stopped afterwards, and
 * costs nothing.
 */
export async function callWritten<T>(
  encoded: EncodedRequest,
  authorization: Authorization,
  call: (request: UpstreamRequest) => Promise<AttemptResult<T>>,
): Promise<AttemptResult<T>> {
  const request = authorizeWritten(encoded, authorization)
  if (!(request instanceof Promise)) return call(request)
  const written = await request
  return written === undefined ? { ok: false, error: STOPPED } : call(written)
}

/**
 * Returns a request with its body written, for several calls. Returns a promise if that takes turns, which settles as that of
 * `authorizeWritten`.
 */
export function writeRequest(
  encoded: EncodedRequest,
  ctx: WatchedContext,
): UpstreamRequest | Promise<UpstreamRequest | undefined> {
  return isWritten(encoded) ? withType(encoded) : write(encoded, ctx)
}

interface WrittenRequest extends UpstreamRequest, Pick<EncodedRequest, 'contentType'> {}

function isWritten(request: EncodedRequest): request is WrittenRequest & EncodedRequest {
  return !('pieces' in request.body)
}

/** Adds the Content-Type that is known once the body is written. */
function withType(request: WrittenRequest): UpstreamRequest {
  if (request.contentType === undefined) return request
  const { contentType, ...rest } = request
  return { ...rest, headers: { ...rest.headers, 'content-type': contentType() } }
}

function isDigested(body: Buffer, target: Target): boolean {
  return body.length > SHORT_BYTES && isSigned(target)
}

/** `target`: whose signature the body is digested for. Absent: it is digested later. */
async function write(
  encoded: EncodedRequest,
  ctx: WatchedContext,
  target?: Target,
): Promise<UpstreamRequest | undefined> {
  let isStopped = false
  ctx.watch(undefined, () => {
    isStopped = true
  })
  try {
    const findStop = (): boolean => isStopped
    const body = await writeBody(encoded.body, ctx, findStop, WRITTEN_REQUEST_BYTES)
    if (isStopped) return undefined
    const request = withType({ ...encoded, body })
    if (target === undefined || !isDigested(body, target)) return request
    const bodyDigest = await digestBody(body, ctx, findStop)
    return findStop() ? undefined : { ...request, bodyDigest }
  } finally {
    ctx.unwatch()
  }
}
