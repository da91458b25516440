import type { SentBody } from '@rideau/llm/json/unwritten-json'
import { toCapturedText } from '../../core/records/record-line.ts'
import { writeHead } from '../../http/answer/write-head.ts'
import { writeBody } from '../../http/body/write-body.ts'
import { corsHeaders } from '../edge/cors.ts'
import { type Outcome, settle } from '../records/settle.ts'
import type { IdentifiedContext } from '../request/request-context.ts'
import type { PipelineDeps } from './pipeline-deps.ts'

/**
 * Sends a whole answer. Its record is durable before that, so every answered request is logged. Throws if the request was
 * stopped. `headers` is [name, value, name, value, ...]. `isText`: false if the log has no use for the bytes.
 */
export async function sendAnswer(
  ctx: IdentifiedContext,
  body: SentBody,
  { headers, outcome, isText = true }: { headers: string[]; outcome: Outcome; isText?: boolean },
  deps: PipelineDeps,
): Promise<void> {
  const bytes = 'pieces' in body ? await writeBody(body, ctx, () => ctx.stopped !== undefined) : body
  ctx.decideSuccess()
  ctx.firstByteAt = performance.now()
  const responseBody = isText && ctx.environment.logCapture === 'full' ? toCapturedText(bytes) : undefined
  // Before it is charged and sent: a process killed in between leaves an answer that the next attempt gets.
  if (ctx.recorder !== undefined) await ctx.recorder.keepWhole(headers, bytes)
  await settle(ctx, responseBody === undefined ? outcome : { ...outcome, responseBody }, deps)
  headers.push('Content-Length', String(bytes.length), ...corsHeaders(ctx))
  writeHead(ctx.res, 200, headers)
  ctx.res.end(bytes)
}
