import type { Json, JsonObject } from '../../../json/json-value.ts'
import { parseObject } from '../../../json/parse-object.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { measureUnmarked } from '../../shared/answers/measure-unmarked.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import type { ChatServer, CountFormat, ReplyContext } from '../../shared/server-format.ts'
import { encodeStop } from '../wire/stop-reason.ts'
import { toAnthropicError } from './encode-error.ts'
import { encodeReply } from './encode-reply.ts'
import { MessageEncoder } from './encode-stream.ts'
import { encodeUsage } from './encode-usage.ts'
import { parseCountRequest, parseRequest } from './parse-request.ts'

/** `{anthropic prefix}/v1/messages`. Answers of Anthropic's format pass through; all others are translated. */
export const anthropicServer: ChatServer = {
  id: 'anthropic-messages',
  parse: parseRequest,
  encodeReply: toAnthropicReply,
  openStream: context =>
    context.format === 'anthropic-messages' ? new PassedStream() : new TranslatedStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `event: error\ndata: ${JSON.stringify(toAnthropicError(fault, requestId, baseUrl))}\n\n`,
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
  forwardedHeaders: ['anthropic-version', 'anthropic-beta'],
}

/** `{anthropic prefix}/v1/messages/count_tokens`. */
export const anthropicCount: CountFormat = {
  server: anthropicServer,
  parse: parseCountRequest,
  encode: tokens => ({ input_tokens: tokens }),
}

function toAnthropicReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (context.format === 'anthropic-messages') return answer.bytes
  const reply = encodeReply({ ...answer.reply, usage: bill.usage }, toEnvelope(context))
  return toSentJson(reply)
}

function toEnvelope({ requestId, created, model }: ReplyContext): ReplyEnvelope {
  return { id: `msg_${requestId.replaceAll('-', '')}`, created, model }
}

/** Encodes the events of another format's stream. */
class TranslatedStream implements StreamEncoder {
  readonly #encoder: MessageEncoder

  constructor(context: ReplyContext) {
    this.#encoder = new MessageEncoder(toEnvelope(context))
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) for (const encoded of this.#encoder.encode(event)) frames += toFrame(encoded)
    return frames
  }

  finish({ finishReason, bill }: StreamEnd): string {
    return this.#encoder.finish(finishReason, bill.usage).map(toFrame).join('')
  }
}

/** Events with these marks must be decoded: begin and end of the answer and of its blocks, and errors. */
const DECODED_MARKS = /message|content_block_st|"error"/

/** Passes the provider's own events on, except the last: it is sent after the request is recorded. */
class PassedStream implements StreamEncoder {
  /** The index of the block that has begun and not ended. */
  #open: Json | undefined

  /** The events that only continue a block, of which the gateway needs nothing. */
  measurePassable(chunk: Buffer): number {
    const text = chunk.toString('latin1')
    const length = measureUnmarked(text, DECODED_MARKS)
    const delta = text.indexOf('content_block_delta')
    return delta !== -1 && delta < length ? length : 0
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (event.data.includes('"content_block_st')) this.#noteBlock(parseObject(event.data))
    return events.some(({ type }) => type === 'end') ? '' : event.raw
  }

  #noteBlock({ type, index }: JsonObject = {}): void {
    if (type === 'content_block_start') this.#open = index
    else if (type === 'content_block_stop') this.#open = undefined
  }

  /** Without a finish reason a limit ended the answer, mostly within a block. */
  finish({ isFinishSent, finishReason, bill }: StreamEnd): string {
    const stop = toFrame({ type: 'message_stop' })
    if (isFinishSent) return stop
    const block = this.#open === undefined ? '' : toFrame({ type: 'content_block_stop', index: this.#open })
    const delta = encodeStop(finishReason, undefined)
    return block + toFrame({ type: 'message_delta', delta, usage: encodeUsage(bill.usage) }) + stop
  }
}

function toFrame(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
}
