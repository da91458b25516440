import { estimateTokens } from '@rideau/llm/usage/estimate'
import { oneMicrotask } from '../../http/batch-in-tick.ts'
import { writeHead } from '../../http/write-head.ts'
import { attemptPlain } from '../attempts/attempt-plain.ts'
import { callTargets } from '../attempts/call-targets.ts'
import { toBill } from '../billing/bill.ts'
import { corsHeaders } from '../edge/cors.ts'
import { settle } from '../records/settle.ts'
import { aimAt, type ChatCall, chatHeaders, toAttempt, withBill } from './chat-call.ts'

/** A whole answer at once: bytes of the provider where the formats agree. */
export async function servePlainChat(chat: ChatCall): Promise<void> {
  const { ctx, deps, server, plan, facts } = chat
  await oneMicrotask
  const answer = await callTargets(ctx, deps, plan, async (target, planned) => {
    aimAt(chat, planned)
    const attempt = toAttempt(chat, target)
    return withBill(chat, await attemptPlain(attempt instanceof Promise ? await attempt : attempt))
  })
  const bill = toBill(chat.target.catalogModel, answer.reply.usage, {
    requestBytes: plan.source.bytes.length,
    inputTokens: plan.held?.inputTokens,
    deliveredTokens: estimateTokens(answer.bytes.length),
  })
  facts.answered = bill
  const bytes = server.encodeReply(chat.answered, answer, bill)
  ctx.firstByteAt = performance.now()
  await settle(
    ctx,
    facts,
    {
      status: 200,
      bill,
      finishReason: answer.reply.choices[0]?.finishReason ?? 'stop',
      responseBody: ctx.environment?.logCapture === 'full' ? bytes.toString('utf8') : undefined,
    },
    deps,
  )
  const headers = chatHeaders(chat, 'application/json')
  headers.push('Content-Length', String(bytes.length), ...corsHeaders(ctx))
  writeHead(ctx.res, 200, headers)
  ctx.res.end(bytes)
}
