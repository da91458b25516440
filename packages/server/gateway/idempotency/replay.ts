import { writeHead } from '../../http/answer/write-head.ts'
import { corsHeaders } from '../edge/cors.ts'
import { idHeaders } from '../edge/send.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { IdempotencyDeps } from './idempotency-deps.ts'
import { type IdentityInput, identifyRequest } from './request-identity.ts'
import type { StoredAnswer } from './stored-answer.ts'

/**
 * Returns the first answer of a request's key, for which it may wait. undefined: the request has to make that answer, and its context
 * has the recorder.
 */
export async function findFirst(
  ctx: IdentifiedContext,
  key: string,
  input: IdentityInput,
  { idempotency }: IdempotencyDeps,
): Promise<StoredAnswer | undefined> {
  const answer = await idempotency.join(ctx, await identifyRequest(ctx, key, input))
  if (answer === undefined) ctx.assertNotStopped()
  return answer
}

/** The replay is no use of the provider: it leaves no record, and no limit knows of it. */
export async function replay(
  ctx: IdentifiedContext,
  { headers, frames, body }: StoredAnswer,
  { idempotency }: IdempotencyDeps,
): Promise<void> {
  idempotency.countReplay()
  const { res } = ctx
  if (ctx.isGone) return
  const head = [...idHeaders(ctx), 'Idempotent-Replayed', 'true', ...headers, ...corsHeaders(ctx)]
  if (frames === undefined) {
    writeHead(res, 200, [...head, 'Content-Length', String(body.length)])
    res.end(body)
    return
  }
  // Whoever reads slowly keeps all of it in memory.
  ctx.permit?.holdAnswer(body.length)
  writeHead(res, 200, head)
  let at = 0
  for (const length of frames) {
    if (ctx.isGone) return
    ctx.assertNotStopped()
    const frame = body.subarray(at, at + length)
    at += length
    if (!res.write(frame)) await drained(ctx)
  }
  res.end()
}

/** Resolves once the caller has read, has gone, or the request is stopped. */
function drained(ctx: IdentifiedContext): Promise<void> {
  const { res } = ctx
  return new Promise(resolve => {
    const end = (): void => {
      res.off('drain', end)
      res.off('close', end)
      ctx.unwatch()
      resolve()
    }
    res.on('drain', end)
    res.on('close', end)
    ctx.watch(undefined, end)
  })
}
