import type { Fault } from '../../core/fault.ts'
import { toUpstreamFault } from '../../core/upstream-fault.ts'
import { writeHead } from '../../http/write-head.ts'
import { attemptStream } from '../attempts/attempt-stream.ts'
import { callTargets } from '../attempts/call-targets.ts'
import { toBill } from '../billing/bill.ts'
import { corsHeaders } from '../edge/cors.ts'
import { SpendGuard } from '../limits/spend-guard.ts'
import { openRecord } from '../records/open-record.ts'
import { settle } from '../records/settle.ts'
import { type RelayEnd, relayStream } from '../stream/relay.ts'
import { StreamWriter } from '../stream/stream-writer.ts'
import { aimAt, type ChatCall, chatHeaders, toAttempt, withBill } from './chat-call.ts'

/** A stream: the 200 waits for the provider's first real event, the record is written before the last frame. */
export async function serveStreamedChat(chat: ChatCall): Promise<void> {
  const { ctx, deps, server, plan, facts } = chat
  const openHeaders = (): void => {
    const headers = chatHeaders(chat, server.streamType ?? 'text/event-stream; charset=utf-8')
    // Proxies such as nginx hold streams back unless told not to.
    headers.push('Cache-Control', 'no-cache', 'X-Accel-Buffering', 'no', ...corsHeaders(ctx))
    writeHead(ctx.res, 200, headers)
  }
  const writer = new StreamWriter(ctx, openHeaders, server.keepAlive)
  // From here on a fault may have to be told inside the stream.
  const encodeEarly = (fault: Fault): string | Uint8Array =>
    server.encodeStreamFault(fault, ctx.requestId, deps.baseUrl())
  ctx.encodeStreamFault = encodeEarly
  const [stream, attempt] = await callTargets(ctx, deps, plan, async (target, planned) => {
    aimAt(chat, planned)
    const encoding = toAttempt(chat, target)
    const attempt = encoding instanceof Promise ? await encoding : encoding
    const result = withBill(chat, await attemptStream(attempt, now => writer.tick(now)))
    return result.ok ? { ...result, value: [result.value, attempt] as const } : result
  })
  const { answered } = chat
  const { format, target, timeoutMs } = attempt
  const encoder = server.openStream(answered)
  const encodeFault = (fault: Fault): string | Uint8Array =>
    encoder.encodeFault?.(fault, ctx.requestId, deps.baseUrl()) ?? encodeEarly(fault)
  ctx.encodeStreamFault = encodeFault
  const end = await relayStream({
    ctx,
    stream,
    framing: format.framing,
    decoder: format.openStream(target),
    encoder,
    writer,
    includeUsage: answered.includeUsage,
    capture: ctx.environment?.logCapture === 'full',
    idleMs: timeoutMs,
    guard: toGuard(chat),
  })
  const bill = toBill(chat.target.catalogModel, end.usage, {
    requestBytes: plan.source.bytes.length,
    inputTokens: plan.held?.inputTokens,
    deliveredTokens: end.deliveredTokens,
    partialUsage: end.partialUsage,
  })
  facts.answered = bill
  const fault = toFaultOf(chat, end)
  const responseBody = end.transcript?.toJson(fault === undefined ? end.finishReason : null)
  if (fault !== undefined) {
    await settle(ctx, facts, { status: fault.status, fault, bill, responseBody }, deps)
    writer.end(encodeFault(fault))
    return
  }
  const cutBy = end.isCut ? 'budget_exceeded' : undefined
  await settle(ctx, facts, { status: 200, bill, finishReason: end.finishReason, responseBody, cutBy }, deps)
  if (end.isCut && server.cutNote !== '') writer.write(server.cutNote ?? CUT_NOTE)
  writer.end(encoder.finish({ ...end, bill }))
}

/** A comment, so that every client reads on: why the answer ends here. */
const CUT_NOTE = ': budget_exceeded: a limit of tokens or spend ended this answer\n\n'

/** Watches a stream whose targets would give more than is held. */
function toGuard({ ctx, plan, facts, deps }: ChatCall): SpendGuard | undefined {
  const { held } = plan
  if (held === undefined || ctx.admission === undefined || held.isCapped) return undefined
  if (held.outputTokens >= held.mostOutputTokens) return undefined
  return new SpendGuard(
    ctx.admission,
    held,
    grown => openRecord(ctx, facts, grown, () => grown.inputTokens, deps),
    error => ctx.fail(error, 'the growth of a reservation'),
  )
}

function toFaultOf({ ctx }: ChatCall, end: RelayEnd): Fault | undefined {
  if (ctx.stopped !== undefined) return ctx.stopped
  return end.error === undefined ? undefined : toUpstreamFault(end.error)
}
