import { findFields } from '../../json/json-scan.ts'
import type { JsonObject } from '../../json/json-value.ts'
import { parseObject } from '../../json/parse-object.ts'
import { spliceObject } from '../../json/splice.ts'
import type { SentBody } from '../../json/unwritten-json.ts'
import type { StreamEvent } from '../../stream/stream-event.ts'
import type { Bill } from '../../usage/bill.ts'
import { encodeUsage } from '../openai-chat/server/encode-usage.ts'
import type { PlainAnswer } from '../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../shared/answers/stream-encoder.ts'
import { toOpenAiEnvelope } from '../shared/errors/error-envelope.ts'
import type { ChatServer, ReplyContext } from '../shared/server-format.ts'
import { parseRequest } from './parse-request.ts'

/** `{prefix}/v1/completions`. Only providers of this format answer, and their answers pass through. */
export const completionsServer: ChatServer = {
  id: 'openai-completions',
  parse: parseRequest,
  encodeReply: toReply,
  openStream: context => new PassedStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `data: ${JSON.stringify(toOpenAiEnvelope(fault, requestId, baseUrl))}\n\n`,
}

function toReply(_context: ReplyContext, { bytes, reply, fields }: PlainAnswer, bill: Bill): SentBody {
  const spans = reply.usage === undefined ? (fields ?? findFields(bytes)) : undefined
  if (spans === undefined) return bytes
  return spliceObject({ bytes, fields: spans }, new Map([['usage', encodeUsage(bill.usage)]]))
}

/** The provider's chunks, with usage only where it was asked for. */
class PassedStream implements StreamEncoder {
  readonly #context: ReplyContext
  /** The last chunk: those that the gateway adds take its id, model and time. */
  #template: JsonObject = {}

  constructor(context: ReplyContext) {
    this.#context = context
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[], { data }: UpstreamEvent): string {
    if (events.some(({ type }) => type === 'end')) return ''
    if (events.some(({ type }) => type === 'error')) return this.#encodeOutput(events)
    const chunk = parseObject(data)
    if (chunk === undefined) return ''
    this.#template = chunk
    if (this.#context.includeUsage) return toFrame(chunk)
    const { usage: _, ...rest } = chunk
    return Array.isArray(rest.choices) && rest.choices.length > 0 ? toFrame(rest) : ''
  }

  /** The text beside an error, which callers get in the gateway's words. */
  #encodeOutput(events: readonly StreamEvent[]): string {
    const choices = events
      .filter(event => event.type === 'delta')
      .map(({ index, content = '', finishReason = null }) => {
        return { text: content, index, logprobs: null, finish_reason: finishReason }
      })
    return choices.length === 0 ? '' : this.#frame({ choices })
  }

  finish(end: StreamEnd): string {
    let frames = ''
    if (!end.isFinishSent) {
      const choice = { text: '', index: 0, logprobs: null, finish_reason: end.finishReason }
      frames += this.#frame({ choices: [choice] })
    }
    if (this.#context.includeUsage && !end.isUsageSent) {
      frames += this.#frame({ choices: [], usage: encodeUsage(end.bill.usage) })
    }
    return `${frames}data: [DONE]\n\n`
  }

  #frame(fields: JsonObject): string {
    const { id, model, created } = this.#template
    return toFrame({
      id: id ?? `cmpl-${this.#context.requestId}`,
      object: 'text_completion',
      created: created ?? this.#context.created,
      model: model ?? this.#context.model,
      ...fields,
    })
  }
}

function toFrame(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
