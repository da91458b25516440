import type { JsonObject } from '../../../json/json-value.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import type { ChatServer, ReplyContext, RequestClock } from '../../shared/server-format.ts'
import { toOllamaError } from './encode-error.ts'
import { encodeEnd, encodeHead, encodeReply, type ReplyTiming } from './encode-reply.ts'
import { LineEncoder } from './encode-stream.ts'
import { parseRequest } from './parse-request.ts'

/** `{ollama prefix}/api/chat`. An answer of a provider of the same format passes through, every other one is translated. */
export const ollamaServer: ChatServer = {
  id: 'ollama-chat',
  parse: parseRequest,
  encodeReply: toOllamaReply,
  openStream: context =>
    context.format === 'ollama-chat' ? new PassedStream(context) : new TranslatedStream(context),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `${JSON.stringify(toOllamaError(fault, requestId, baseUrl))}\n`,
  streamType: 'application/x-ndjson',
  // JSON allows a space before an object; clients cannot read an empty line.
  keepAlive: ' ',
  cutNote: '',
}

function toOllamaReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (context.format === 'ollama-chat') return answer.bytes
  const timing = { firstMs: 0, totalMs: context.clock.elapsedMs() }
  const reply = encodeReply({ ...answer.reply, usage: bill.usage }, toEnvelope(context), timing)
  return toSentJson(reply)
}

export function toEnvelope({ requestId, created, model }: ReplyContext): ReplyEnvelope {
  return { id: requestId, created, model }
}

const toLine = (object: JsonObject): string => `${JSON.stringify(object)}\n`

type Reshape = (line: JsonObject) => JsonObject
const unchanged: Reshape = line => line

/** Why a stream ended early, in a field that clients ignore. */
const CUT = { note: 'budget_exceeded: a limit of tokens or spend ended this answer' }

/** Measures when the first piece and the end of an answer came. */
class Timer {
  readonly #clock: RequestClock
  #firstMs: number | undefined

  constructor({ clock }: ReplyContext) {
    this.#clock = clock
  }

  note(): void {
    this.#firstMs ??= this.#clock.elapsedMs()
  }

  read(): ReplyTiming {
    const totalMs = this.#clock.elapsedMs()
    return { firstMs: this.#firstMs ?? totalMs, totalMs }
  }
}

/** The stream of another format in lines of this one. */
export class TranslatedStream implements StreamEncoder {
  readonly #encoder: LineEncoder
  readonly #timer: Timer
  readonly #reshape: Reshape

  /** `reshape`: of each line. */
  constructor(context: ReplyContext, reshape: Reshape = unchanged) {
    this.#reshape = reshape
    this.#encoder = new LineEncoder(toEnvelope(context))
    this.#timer = new Timer(context)
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    this.#timer.note()
    return events
      .flatMap(event => this.#encoder.encode(event))
      .map(line => toLine(this.#reshape(line)))
      .join('')
  }

  finish({ finishReason, bill, isCut }: StreamEnd): string {
    const lines = this.#encoder.finish(finishReason, bill.usage, this.#timer.read())
    const noted = lines.map(line => (isCut && line.done === true ? { ...line, ...CUT } : line))
    return noted.map(line => toLine(this.#reshape(line))).join('')
  }
}

/** The provider's own lines. The last one is held until the request is recorded. */
class PassedStream implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #timer: Timer
  #last = ''

  constructor(context: ReplyContext) {
    this.#context = context
    this.#timer = new Timer(context)
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[], { data }: UpstreamEvent): string {
    this.#timer.note()
    if (!events.some(({ type }) => type === 'end')) return `${data}\n`
    this.#last = `${data}\n`
    return ''
  }

  finish({ finishReason, isCut, bill }: StreamEnd): string {
    if (this.#last !== '') return this.#last
    return toLine({
      ...encodeHead(toEnvelope(this.#context)),
      message: { role: 'assistant', content: '' },
      ...encodeEnd(finishReason, bill.usage, this.#timer.read()),
      ...(isCut ? CUT : {}),
    })
  }
}
