import { findFields } from '../../../json/json-scan.ts'
import type { Json } from '../../../json/json-value.ts'
import { spliceObject } from '../../../json/splice.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { hasOpenAiArithmetic } from '../../shared/answers/decode-usage.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd } from '../../shared/answers/stream-encoder.ts'
import { toOpenAiEnvelope } from '../../shared/errors/error-envelope.ts'
import type { ChatServer, ReplyContext } from '../../shared/server-format.ts'
import { encodeReply } from './encode-reply.ts'
import { type ChunkEncoder, openChunkEncoder } from './encode-stream.ts'
import { correctUsage, encodeUsage } from './encode-usage.ts'
import { parseRequest } from './parse-request.ts'
import { markChoices } from './passed-reasoning.ts'
import { PassedStream } from './passed-stream.ts'

/**
 * `{prefix}/v1/chat/completions`. An answer of a provider of the same format passes through, except for usage, which always
 * follows OpenAI's arithmetic and is sent in a stream only where it was asked for. Every other answer is translated.
 */
export const openAiChatServer: ChatServer = {
  id: 'openai-chat',
  parse: parseRequest,
  encodeReply: toReply,
  openStream: context => (isPassed(context) ? new PassedStream(context) : new TranslatedStream(context)),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `data: ${JSON.stringify(toOpenAiEnvelope(fault, requestId, baseUrl))}\n\n`,
}

/** The provider's own bytes go out, unless the caller reads the call of a function by its older name. */
function isPassed({ format, parsed }: ReplyContext): boolean {
  return format === 'openai-chat' && parsed.callsFunctions !== true
}

function toReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (!isPassed(context)) {
    const whole = { ...answer.reply, usage: bill.usage }
    const reply = encodeReply(whole, toReplyEnvelope(context), context.parsed.callsFunctions)
    return toSentJson(reply)
  }
  const changes = new Map<string, Json>()
  const { usage } = answer.reply
  if (usage === undefined) changes.set('usage', encodeUsage(bill.usage))
  else if (!hasOpenAiArithmetic(answer.body, usage))
    changes.set('usage', correctUsage(answer.body.usage, usage))
  const choices = markPassed(answer)
  if (choices !== undefined) changes.set('choices', choices)
  if (changes.size === 0) return answer.bytes
  const fields = answer.fields ?? findFields(answer.bytes)
  return fields === undefined ? answer.bytes : spliceObject({ bytes: answer.bytes, fields }, changes)
}

/** The choices of a passed reply with marks on reasoning that has to come back; undefined: there is none. */
function markPassed({ body, reply }: PlainAnswer): Json[] | undefined {
  const hasDetails = reply.choices.some(({ message }) => message.reasoning_details !== undefined)
  return hasDetails ? markChoices(body, reply) : undefined
}

function toReplyEnvelope({ requestId, created, model }: ReplyContext): ReplyEnvelope {
  return { id: `chatcmpl-${requestId}`, created, model }
}

/** The stream of another format as chunks that OpenAI's published schema accepts. */
class TranslatedStream implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #chunks: ChunkEncoder

  constructor(context: ReplyContext) {
    this.#context = context
    this.#chunks = openChunkEncoder(toReplyEnvelope(context), {
      includeUsage: context.includeUsage,
      callsFunctions: context.parsed.callsFunctions === true,
    })
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) {
      // Usage is sent once, at the end, from the bill.
      if (event.type === 'usage') continue
      frames += this.#chunks.encodeFrames(event)
    }
    return frames
  }

  finish(end: StreamEnd): string {
    let frames = ''
    const last: StreamEvent[] = []
    if (!end.isFinishSent) last.push({ type: 'delta', index: 0, finishReason: end.finishReason })
    if (this.#context.includeUsage) last.push({ type: 'usage', usage: end.bill.usage })
    for (const event of last) frames += this.#chunks.encodeFrames(event)
    return `${frames}data: [DONE]\n\n`
  }
}
