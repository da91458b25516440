import { writeHead } from '../../http/write-head.ts'
import { corsHeaders } from '../edge/cors.ts'
import { type Outcome, settle } from '../records/settle.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/** Of an answer that is mostly numbers or images, so much goes to the log. Bytes. */
export const LOGGED_BYTES = 40 * 1024

/**
 * Sends a whole answer: its record is durable first, so that whoever has an answer is in the log. `headers` are name,
 * value, name, value. `loggedBytes`: how much of it an environment that captures in full keeps.
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
  await settle(ctx, responseBody === undefined ? outcome : { ...outcome, responseBody }, deps)
  headers.push('Content-Length', String(bytes.length), ...corsHeaders(ctx))
  writeHead(ctx.res, 200, headers)
  ctx.res.end(bytes)
}
