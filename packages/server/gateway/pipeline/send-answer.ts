import { writeHead } from '../../http/write-head.ts'
import { corsHeaders } from '../edge/cors.ts'
import { type Outcome, settle } from '../records/settle.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** How much of an answer that consists mainly of numbers or images is logged, in bytes. */
export const LOGGED_BYTES = 40 * 1024

/**
 * Sends a whole answer. Its record is durable before that, so every answered request is logged. `headers` is [name,
 * value, name, value, ...]. `loggedBytes` limits what an environment that captures in full keeps.
 */
export async function sendAnswer(
  ctx: IdentifiedContext,
  bytes: Buffer,
  {
    headers,
    outcome,
    loggedBytes = bytes.length,
  }: { headers: string[]; outcome: Outcome; loggedBytes?: number },
  deps: PipelineDeps,
): Promise<void> {
  ctx.firstByteAt = performance.now()
  const responseBody =
    ctx.environment.logCapture === 'full'
      ? bytes.toString('utf8', 0, Math.min(bytes.length, loggedBytes))
      : undefined
  // Before it is charged and sent: a process killed in between leaves an answer that the next attempt gets.
  if (ctx.recorder !== undefined) await ctx.recorder.keepWhole(headers, bytes)
  await settle(ctx, responseBody === undefined ? outcome : { ...outcome, responseBody }, deps)
  headers.push('Content-Length', String(bytes.length), ...corsHeaders(ctx))
  writeHead(ctx.res, 200, headers)
  ctx.res.end(bytes)
}
