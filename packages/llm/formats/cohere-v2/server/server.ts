import type { JsonObject } from '../../../json/json-value.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import type { ServedFault } from '../../shared/errors/served-fault.ts'
import type { ChatServer, ReplyContext } from '../../shared/server-format.ts'
import { toCohereError } from './encode-error.ts'
import { encodeUsage, toFinishReason } from './encode-parts.ts'
import { encodeReply } from './encode-reply.ts'
import { ChatEventEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

/** `{cohere prefix}/v2/chat`: a provider of the same format is passed through, every other one is translated. */
export const cohereServer: ChatServer = {
  id: 'cohere-v2',
  parse: parseRequest,
  encodeReply: toReply,
  openStream: context =>
    context.format === 'cohere-v2' ? new PassedStream() : new TranslatedStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    encodeFault(new ChatEventEncoder({ id: requestId, created: 0, model: '' }), fault, requestId, baseUrl),
  // Comments, without the blank line that ends an event: Cohere's client for Go takes an event without data for broken JSON.
  keepAlive: ': keep-alive\n',
  cutNote: ': budget_exceeded: a limit of tokens or spend ended this answer\n',
}

function toReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (context.format === 'cohere-v2') return answer.bytes
  const reply = encodeReply({ ...answer.reply, usage: bill.usage }, toEnvelope(context))
  return toSentJson(reply)
}

function toEnvelope({ requestId, created, model }: ReplyContext): ReplyEnvelope {
  return { id: requestId, created, model }
}

const DONE = 'data: [DONE]\n\n'

/** What another format said, in this one's events. */
class TranslatedStream implements StreamEncoder {
  readonly #encoder: ChatEventEncoder

  constructor(context: ReplyContext) {
    this.#encoder = new ChatEventEncoder(toEnvelope(context))
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) frames += toFrames(this.#encoder.encode(event))
    return frames
  }

  finish({ finishReason, bill }: StreamEnd): string {
    return toFrames(this.#encoder.finish(finishReason, bill.usage)) + DONE
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return encodeFault(this.#encoder, fault, requestId, baseUrl)
  }
}

/** Passes on the provider's own events, except the last one, which waits for the record. */
class PassedStream implements StreamEncoder {
  #last: Uint8Array | undefined

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    if (events.some(({ type }) => type === 'error')) return ''
    if (!events.some(({ type }) => type === 'end')) return event.raw
    this.#last = event.raw
    return ''
  }

  finish({ finishReason, bill }: StreamEnd): string {
    if (this.#last !== undefined) return Buffer.from(this.#last).toString('utf8') + DONE
    const delta = { finish_reason: toFinishReason(finishReason), usage: encodeUsage(bill.usage) }
    return toFrames([{ type: 'message-end', delta }]) + DONE
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return toFrames([{ type: 'message-end', delta: toFailure(fault, requestId, baseUrl) }])
  }
}

/** A stream that fails ends without `[DONE]`, with a reason that no whole answer has. */
function encodeFault(
  encoder: ChatEventEncoder,
  fault: ServedFault,
  requestId: string,
  baseUrl: string,
): string {
  return toFrames(encoder.fail(toFailure(fault, requestId, baseUrl)))
}

function toFailure(fault: ServedFault, requestId: string, baseUrl: string): JsonObject {
  const { id: _, message, ...fields } = toCohereError(fault, requestId, baseUrl)
  return { finish_reason: 'ERROR', error: message, ...fields }
}

function toFrames(events: readonly JsonObject[]): string {
  let frames = ''
  for (const event of events) frames += `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`
  return frames
}
