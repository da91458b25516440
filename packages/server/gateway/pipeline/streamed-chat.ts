import type { StreamEncoder, StreamEnd } from '@rideau/llm/formats/shared/answers/stream-encoder'
import type { Target } from '@rideau/llm/upstream/target'
import type { Bill } from '@rideau/llm/usage/bill'
import { hasThinkingPrice } from '@rideau/llm/usage/pricing'
import { toUpstreamFault } from '../../core/attempts/upstream-fault.ts'
import type { Fault } from '../../core/fault.ts'
import { writeHead } from '../../http/answer/write-head.ts'
import type { AttemptResult } from '../attempts/attempt-result.ts'
import { attemptStream, type OpenStream } from '../attempts/attempt-stream.ts'
import { toBill } from '../billing/bill.ts'
import { corsHeaders } from '../edge/cors.ts'
import { SpendGuard } from '../limits/spend-guard.ts'
import { openRecord } from '../records/open-record.ts'
import { settle } from '../records/settle.ts'
import { type RelayEnd, relayStream } from '../stream/relay.ts'
import { StreamWriter } from '../stream/stream-writer.ts'
import type { ChatTarget } from '../targets/chat-selection.ts'
import { ChatCall } from './chat-call.ts'

/** An open stream of a provider. */
export interface ProviderStream {
  readonly stream: OpenStream
  /** The longest silence, in milliseconds. */
  readonly idleMs: number
}

/** An SSE comment, which every client skips. States why the answer ends here. */
const CUT_NOTE = ': budget_exceeded: a limit of tokens or spend ended this answer\n\n'

/** A chat that is answered by a stream. The 200 is sent at the provider's first meaningful event. */
export class StreamedChat extends ChatCall<ProviderStream> {
  #writer: StreamWriter | undefined

  async attempt(target: Target, resolved: ChatTarget): Promise<AttemptResult<ProviderStream>> {
    const encoding = this.toAttempt(target, resolved)
    const attempt = encoding instanceof Promise ? await encoding : encoding
    this.#writer ??= this.#openWriter()
    const writer = this.#writer
    const result = this.conclude(await attemptStream(attempt, now => writer.tick(now)))
    if (!result.ok) return result
    return { ...result, value: { stream: result.value, idleMs: attempt.timeoutMs } }
  }

  /** Opens the writer. From here on a fault may have to be sent within the stream. */
  #openWriter(): StreamWriter {
    const { ctx, server } = this
    const writer = new StreamWriter(ctx, () => this.#writeHead(), server.keepAlive)
    ctx.encodeStreamFault = fault => writer.withoutStart(this.#encodeFault(fault))
    return writer
  }

  #writeHead(): void {
    const headers = this.#streamHeaders()
    headers.push(...corsHeaders(this.ctx))
    writeHead(this.ctx.res, 200, headers)
  }

  #streamHeaders(): string[] {
    const headers = this.headers(this.server.streamType ?? 'text/event-stream; charset=utf-8')
    // Proxies such as nginx buffer streams unless this header is sent.
    headers.push('Cache-Control', 'no-cache', 'X-Accel-Buffering', 'no')
    return headers
  }

  #encodeFault(fault: Fault, encoder?: StreamEncoder): string | Uint8Array {
    const { requestId } = this.ctx
    const baseUrl = this.deps.baseUrl()
    return (
      encoder?.encodeFault?.(fault, requestId, baseUrl) ??
      this.server.encodeStreamFault(fault, requestId, baseUrl)
    )
  }

  async answer({ stream, idleMs }: ProviderStream): Promise<void> {
    this.dropContent(stream.call.hasBody)
    const { ctx, server, replyContext } = this
    const writer = this.#writer as StreamWriter
    const guard = this.#toGuard()
    const encoder = server.openStream(replyContext, guard !== undefined)
    ctx.encodeStreamFault = fault => writer.withoutStart(this.#encodeFault(fault, encoder))
    const end = await relayStream({
      ctx,
      stream,
      encoder,
      writer,
      includeUsage: replyContext.includeUsage,
      capture: ctx.environment.logCapture === 'full',
      idleMs,
      guard,
      findsReasoning: hasThinkingPrice(this.target.catalogModel?.pricing),
    })
    const bill = this.#toBill(end, stream.call.sentAt)
    ctx.recordFields.answered = bill
    const fault = ctx.stopped ?? (end.error === undefined ? undefined : toUpstreamFault(end.error))
    ctx.decide()
    const responseBody = end.transcript?.toJson(fault === undefined ? end.finishReason : null)
    if (fault !== undefined) {
      await settle(ctx, { status: fault.status, fault, bill, responseBody }, this.deps)
      writer.end(this.#encodeFault(fault, encoder))
      return
    }
    const cutBy = end.isCut ? 'budget_exceeded' : undefined
    const { finishReason } = end
    const note = end.isCut && server.cutNote !== '' ? (server.cutNote ?? CUT_NOTE) : undefined
    const last = encoder.finish(toStreamEnd(end, bill))
    if (ctx.recorder !== undefined)
      await ctx.recorder.keepStream(this.#streamHeaders(), note === undefined ? [last] : [note, last])
    await settle(ctx, { status: 200, bill, finishReason, responseBody, cutBy }, this.deps)
    if (note !== undefined) writer.write(note)
    writer.end(last)
  }

  #toBill(end: RelayEnd, sentAt: number | undefined): Bill {
    const { error, usage, deliveredTokens, partialUsage, hasVisibleOutput, hasVisibleReasoning, hasNoRoom } =
      end
    // A stream that the gateway ended reports no usage, and its reasoning may have been hidden. Callers end some on purpose.
    const isCutByUs = this.ctx.stopped !== undefined || error?.kind === 'timeout' || hasNoRoom
    const generatedTokens =
      isCutByUs && sentAt !== undefined ? this.findUnseen(performance.now() - sentAt) : undefined
    const bill = toBill(this.target.catalogModel, usage, {
      requestBytes: this.requestBytes,
      inputTokens: this.inputTokens,
      deliveredTokens,
      generatedTokens,
      choices: this.choices,
      reservedTokens: this.reservedTokens,
      partialUsage,
      hasVisibleOutput,
      hasVisibleReasoning,
    })
    return this.warnIfNotCredible(usage, bill)
  }

  /** Returns a guard for a stream whose targets may return more than is reserved. */
  #toGuard(): SpendGuard | undefined {
    const { ctx, deps, reserved } = this
    if (reserved === undefined || ctx.reservation === undefined || reserved.isCapped) return undefined
    if (reserved.outputTokens >= reserved.maxOutputTokens) return undefined
    return new SpendGuard(
      ctx.reservation,
      reserved,
      extended => openRecord(ctx, extended, this, deps),
      error => ctx.fail(error, 'the extension of a reservation'),
    )
  }
}

function toStreamEnd({ finishReason, isFinishSent, isCut, isUsageSent }: RelayEnd, bill: Bill): StreamEnd {
  return { finishReason, isFinishSent, isCut, isUsageSent, bill }
}
