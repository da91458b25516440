import { measureWritten } from '../../../json/measure-written.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ReplyMessage } from '../../../reply/chat-reply.ts'
import type { DeltaEvent, StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { measureUnmarked } from '../../shared/answers/measure-unmarked.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import { isFarOff, toOpenAiEnvelope } from '../../shared/errors/error-envelope.ts'
import type { ServedFault } from '../../shared/errors/served-fault.ts'
import type { ChatServer, CountFormat, ReplyContext } from '../../shared/server-format.ts'
import { type EventEncoder, encodeReply, openEventEncoder } from './encode-events.ts'
import { parseRequest } from './parse-request.ts'
import { PassedItems } from './passed-items.ts'
import { toEcho } from './repeat-request.ts'
import type { ResponseHead } from './response-head.ts'

/**
 * `{prefix}/v1/responses`: answers of a provider of this format pass through, others are translated. The gateway stores no
 * answer, so its id cannot be used as `previous_response_id`.
 */
export const responsesServer: ChatServer = {
  id: 'openai-responses',
  parse: parseRequest,
  encodeReply: toReply,
  openStream: (context, mayBeCut = false) =>
    context.format === 'openai-responses'
      ? new PassedStream(context, mayBeCut)
      : new TranslatedStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) => {
    const head = { id: `resp_${requestId}`, created: 0, model: '', ...NOTHING_REPEATED }
    return encodeFault(openEventEncoder(head), fault, requestId, baseUrl)
  },
}

/** `{prefix}/v1/responses/input_tokens`: a request of this format is counted and not answered. */
export const responsesCount: CountFormat = {
  server: responsesServer,
  parse: parseRequest,
  encode: tokens => ({ object: 'response.input_tokens', input_tokens: tokens }),
}

const NOTHING_REPEATED: Pick<ResponseHead, 'echo' | 'calledTools'> = {
  echo: toEcho({}, 0),
  calledTools: new Map(),
}

function toHead({ requestId, created, model, parsed }: ReplyContext): ResponseHead {
  return { id: `resp_${requestId}`, created, model, ...(parsed.repeated ?? NOTHING_REPEATED) }
}

function toReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (context.format === 'openai-responses') return answer.bytes
  const [choice] = answer.reply.choices
  const message: ReplyMessage = choice?.message ?? { role: 'assistant', content: null }
  const reply = encodeReply(toHead(context), message, choice?.finishReason ?? 'stop', bill.usage)
  return toSentJson(reply)
}

/**
 * The texts of one stream, in characters of JSON. The end of an item repeats its text three times and the end of the answer all texts, each at
 * once. The longest answers have a quarter of it.
 */
const MAX_KEPT = 2 * 1024 * 1024

class TranslatedStream implements StreamEncoder {
  readonly #events: EventEncoder
  #kept = 0

  constructor(context: ReplyContext) {
    this.#events = openEventEncoder(toHead(context))
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    let frames = ''
    for (const event of events) {
      // The events that end an answer are written by finish, after the bill.
      if (event.type !== 'delta') continue
      this.#kept += measureTexts(event)
      if (this.#kept > MAX_KEPT) throw new Error('the answer is too long for a stream of this format')
      frames += toFrames(this.#events.add(event))
    }
    return frames
  }

  finish({ finishReason, bill }: StreamEnd): string {
    return toFrames(this.#events.finish(finishReason, bill.usage))
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return encodeFault(this.#events, fault, requestId, baseUrl)
  }
}

/** Reasoning that is packed has a bound of its own. */
function measureTexts({ content, reasoning, refusal, toolCalls }: DeltaEvent): number {
  let size = 0
  for (const text of [content, reasoning, refusal]) if (text !== undefined) size += measureWritten(text)
  for (const { id = '', function: fn } of toolCalls ?? [])
    size += measureWritten(id) + measureWritten(fn?.arguments ?? '')
  return size
}

/** Events with these marks must be decoded: an item, the whole response, or an error. */
const DECODED_MARKS = /"response":|"item":|"error"|\[DONE\]/

const NUMBER = '"sequence_number":'
const ID = /"id": ?"([^"\\]+)"/

class PassedStream implements StreamEncoder {
  readonly #context: ReplyContext
  #last: Uint8Array | undefined
  /** The response's id, and the number of the next event; undefined: nothing was passed on yet. */
  #id: string | undefined
  #next: number | undefined
  /** undefined: no limit can cut the stream. */
  readonly #shown: PassedItems | undefined

  constructor(context: ReplyContext, mayBeCut: boolean) {
    this.#context = context
    this.#shown = mayBeCut ? new PassedItems() : undefined
  }

  get kept(): number {
    return (this.#id?.length ?? 0) + (this.#shown?.kept ?? 0)
  }

  measurePassable(chunk: Buffer): number {
    // The end that the gateway writes repeats all texts.
    if (this.#shown !== undefined) return 0
    const text = chunk.toString('latin1')
    const length = measureUnmarked(text, DECODED_MARKS)
    if (length > 0) this.#noteNumber(text, length)
    return length
  }

  encode(events: readonly StreamEvent[], event: UpstreamEvent): string | Uint8Array {
    this.#id ??= findId(event.data)
    this.#noteNumber(event.data, event.data.length)
    this.#shown?.note(events, event.data)
    if (!events.some(({ type }) => type === 'end')) return event.raw
    // The record is written before the last event goes out.
    this.#last = event.raw
    return ''
  }

  /** The provider's own last event. Without one, a limit ended the answer. */
  finish({ finishReason, bill }: StreamEnd): string {
    if (this.#last !== undefined) return Buffer.from(this.#last).toString('utf8')
    return toFrames(this.#continue().finish(finishReason, bill.usage))
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return encodeFault(this.#continue(), fault, requestId, baseUrl)
  }

  /** Notes the number of the last event before `end`. Some providers number none. */
  #noteNumber(text: string, end: number): void {
    this.#next ??= 0
    const at = text.lastIndexOf(NUMBER, end)
    if (at !== -1)
      this.#next = Number.parseInt(text.slice(at + NUMBER.length, at + NUMBER.length + 20), 10) + 1
  }

  /** Returns an encoder of the events that follow the provider's. */
  #continue(): EventEncoder {
    const head = toHead(this.#context)
    const { all: items = [], current } = this.#shown ?? {}
    const begun = this.#next === undefined ? undefined : { next: this.#next, items, current }
    return openEventEncoder({ ...head, id: this.#id ?? head.id }, begun)
  }
}

/** Returns a copy: a part of a text keeps the whole in memory, which is that of a chunk. */
function findId(data: string): string | undefined {
  const [, id] = ID.exec(data) ?? []
  return id === undefined ? undefined : Buffer.from(id).toString()
}

/**
 * Clients read a failure from either of two events: `response.failed`, which allows a few codes, and `error` with the
 * gateway's code, which the official client throws.
 */
function encodeFault(events: EventEncoder, fault: ServedFault, requestId: string, baseUrl: string): string {
  const { code, message } = fault
  const isLimit = code === 'provider_overloaded' || fault.status === 429
  const failed = events.fail({
    code: isFarOff(fault) ? 'insufficient_quota' : isLimit ? 'rate_limit_exceeded' : 'server_error',
    message,
  })
  const last = Number(failed.at(-1)?.sequence_number ?? 0)
  const { error } = toOpenAiEnvelope(fault, requestId, baseUrl)
  const errorEvent = {
    type: 'error',
    sequence_number: last + 1,
    code,
    message,
    param: fault.param ?? null,
    error: { ...error },
  }
  return toFrames([...failed, errorEvent])
}

function toFrames(events: readonly { readonly type: string }[]): string {
  let frames = ''
  for (const event of events) frames += `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  return frames
}
