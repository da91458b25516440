import type { JsonObject } from '../../../json/json-value.ts'
import { type SentBody, toSentJson } from '../../../json/unwritten-json.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import { measureUnmarked } from '../../shared/answers/measure-unmarked.ts'
import type { PlainAnswer } from '../../shared/answers/plain-answer.ts'
import type { StreamEncoder, StreamEnd, UpstreamEvent } from '../../shared/answers/stream-encoder.ts'
import type { ServedFault } from '../../shared/errors/served-fault.ts'
import type { ChatServer, CountFormat, ReplyContext } from '../../shared/server-format.ts'
import { encodeChunk, encodeReply, toFinishReason } from '../wire/encode-reply.ts'
import { toGoogleError } from './encode-error.ts'
import { ContentEncoder } from './encode-stream.ts'
import { parseCountRequest, parseRequest } from './parse-request.ts'

/** How each event begins. */
const EVENT_START = 'data: '

/**
 * `{gemini prefix}/v1beta/models/{model}:generateContent`: answers of a provider of this format pass through, others are
 * translated.
 */
export const geminiServer: ChatServer = {
  id: 'gemini-content',
  parse: (body, context) => parseRequest(body, context, false),
  encodeReply: toContentReply,
  openStream: context => openEncoder(context, EVENTS),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    EVENTS.writeFault(JSON.stringify(toGoogleError(fault, requestId, baseUrl)), true),
  // Google's clients fail on comments and on blank lines between events. All of them skip spaces before the JSON of an event.
  keepAlive: { start: EVENT_START, filler: ' ' },
  // The last chunk of a cut answer contains the reason.
  cutNote: '',
}

/** `:streamGenerateContent?alt=sse`. */
export const geminiEvents: ChatServer = {
  ...geminiServer,
  parse: (body, context) => parseRequest(body, context, true),
}

/** `:streamGenerateContent` without `alt=sse`: one list whose elements are the chunks. */
export const geminiList: ChatServer = {
  ...geminiEvents,
  openStream: context => openEncoder(context, LIST),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    LIST.writeFault(JSON.stringify(toGoogleError(fault, requestId, baseUrl)), true),
  streamType: 'application/json; charset=utf-8',
  // White space is allowed between the elements of a list.
  keepAlive: ' ',
}

/** `:countTokens`. */
export const geminiCount: CountFormat = {
  server: geminiServer,
  parse: parseCountRequest,
  encode: totalTokens => ({ totalTokens }),
}

/** How the chunks of a stream are separated. */
interface Form {
  write(json: string, isFirst: boolean): string
  /** Writes the error that ends a stream. */
  writeFault(json: string, isFirst: boolean): string
  readonly end: string
  /** Providers send their streams in this form. */
  readonly isProviders: boolean
}

const EVENTS: Form = {
  write: json => `${EVENT_START}${json}\r\n\r\n`,
  // Clients that read events by the standard look for an event with the error. The official ones take that for an empty
  // chunk, and throw on JSON that is no event, as the API itself sends it; so it follows, and nothing may end it.
  writeFault: json => `${EVENT_START}${json}\r\n\r\n${json}`,
  end: '',
  isProviders: true,
}
const LIST: Form = {
  write: (json, isFirst) => (isFirst ? `[${json}` : `,\r\n${json}`),
  writeFault: (json, isFirst) => `${LIST.write(json, isFirst)}]`,
  end: ']',
  isProviders: false,
}
/** A chunk with one of these must be decoded. */
const DECODED_MARKS = /"(?:finishReason|functionCall|error|promptFeedback|groundingMetadata)"/

function toContentReply(context: ReplyContext, answer: PlainAnswer, bill: Bill): SentBody {
  if (context.format === 'gemini-content') return answer.bytes
  const reply = { ...answer.reply, usage: bill.usage }
  return toSentJson(encodeReply(reply, toEnvelope(context), toReplyOptions(context)))
}

function toEnvelope({ requestId, created, model }: ReplyContext): ReplyEnvelope {
  return { id: requestId, created, model }
}

function toReplyOptions({ parsed }: ReplyContext): { thoughts: boolean } {
  return { thoughts: parsed.showsReasoning === true }
}

function openEncoder(context: ReplyContext, form: Form): StreamEncoder {
  return context.format === 'gemini-content'
    ? new PassedStream(context, form)
    : new TranslatedStream(context, form)
}

/** Writes chunks in either form. */
class ChunkWriter {
  readonly #form: Form
  #isBegun = false

  constructor(form: Form) {
    this.#form = form
  }

  write(json: string): string {
    const text = this.#form.write(json, !this.#isBegun)
    this.#isBegun = true
    return text
  }

  end(jsons: readonly string[]): string {
    return jsons.map(json => this.write(json)).join('') + this.#form.end
  }

  encodeFault(fault: ServedFault, requestId: string, baseUrl: string): string {
    return this.#form.writeFault(JSON.stringify(toGoogleError(fault, requestId, baseUrl)), !this.#isBegun)
  }
}

/** Translates an answer of another format. */
class TranslatedStream implements StreamEncoder {
  readonly #encoder: ContentEncoder
  readonly #out: ChunkWriter

  constructor(context: ReplyContext, form: Form) {
    this.#encoder = new ContentEncoder(toEnvelope(context), toReplyOptions(context))
    this.#out = new ChunkWriter(form)
  }

  measurePassable(): number {
    return 0
  }

  encode(events: readonly StreamEvent[]): string {
    let text = ''
    for (const event of events)
      for (const chunk of this.#encoder.encode(event)) text += this.#out.write(JSON.stringify(chunk))
    return text
  }

  finish({ finishReason, bill, isCut }: StreamEnd): string {
    const last = this.#encoder.finish(finishReason, bill.usage)
    return this.#out.end([JSON.stringify(isCut ? withCutNote(last) : last)])
  }

  encodeFault(...fault: Parameters<ChunkWriter['encodeFault']>): string {
    const rest = this.#encoder.flush().map(chunk => this.#out.write(JSON.stringify(chunk)))
    return rest.join('') + this.#out.encodeFault(...fault)
  }
}

/** Passes on the provider's chunks. The last ones wait for the record of the request. */
class PassedStream implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #form: Form
  readonly #out: ChunkWriter
  readonly #last: string[] = []

  constructor(context: ReplyContext, form: Form) {
    this.#context = context
    this.#form = form
    this.#out = new ChunkWriter(form)
  }

  /** The events that contain text only. */
  measurePassable(chunk: Buffer): number {
    if (!this.#form.isProviders || this.#last.length > 0) return 0
    const text = chunk.toString('latin1')
    // A keep-alive may have sent the start of an event.
    if (!text.startsWith(EVENT_START)) return 0
    const length = measureUnmarked(text, DECODED_MARKS)
    const candidates = text.indexOf('"candidates"')
    return candidates !== -1 && candidates < length ? length : 0
  }

  encode(events: readonly StreamEvent[], { data }: UpstreamEvent): string {
    if (events.some(({ type }) => type === 'error')) return this.#encodeOutput(events)
    const isLast = events.some(event => event.type === 'delta' && event.finishReason !== undefined)
    if (!isLast && this.#last.length === 0) return this.#out.write(data)
    this.#last.push(data)
    return ''
  }

  /** The text beside an error, which callers get in the gateway's words. */
  #encodeOutput(events: readonly StreamEvent[]): string {
    const parts: JsonObject[] = []
    for (const event of events) {
      if (event.type !== 'delta' || event.index !== 0) continue
      const text = event.content ?? event.refusal ?? ''
      if (event.reasoning !== undefined) parts.push({ text: event.reasoning, thought: true })
      if (text !== '') parts.push({ text })
    }
    if (parts.length === 0) return ''
    const candidate = { content: { parts, role: 'model' }, index: 0 }
    return this.#out.write(JSON.stringify(encodeChunk([candidate], toEnvelope(this.#context), undefined)))
  }

  finish({ finishReason, isFinishSent, bill, isCut }: StreamEnd): string {
    if (isFinishSent) return this.#out.end(this.#last)
    const content = { parts: [{ text: '' }], role: 'model' }
    const candidate = { content, finishReason: toFinishReason(finishReason), index: 0 }
    const last = encodeChunk([candidate], toEnvelope(this.#context), bill.usage)
    return this.#out.end([...this.#last, JSON.stringify(isCut ? withCutNote(last) : last)])
  }

  encodeFault(...fault: Parameters<ChunkWriter['encodeFault']>): string {
    return this.#out.encodeFault(...fault)
  }
}

/** Adds the reason why a limit ended the answer. */
function withCutNote(chunk: JsonObject): JsonObject {
  const candidates = chunk.candidates as JsonObject[]
  const finishMessage = 'budget_exceeded: a limit of tokens or spend ended this answer'
  return { ...chunk, candidates: candidates.map(candidate => ({ ...candidate, finishMessage })) }
}
