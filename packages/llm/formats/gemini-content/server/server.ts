import type { JsonObject } from '../../../json/json-value.ts'
import type { ReplyEnvelope } from '../../../reply/chat-reply.ts'
import type { StreamEvent } from '../../../stream/stream-event.ts'
import type { Bill } from '../../../usage/bill.ts'
import type { PlainAnswer } from '../../shared/plain-answer.ts'
import type { ServedFault } from '../../shared/served-fault.ts'
import type {
  Answered,
  ChatServer,
  CountFormat,
  StreamEncoder,
  StreamEnd,
  UpstreamEvent,
} from '../../shared/server-format.ts'
import { encodeChunk, encodeReply, toFinishReason } from '../wire/encode-reply.ts'
import { toGoogleError } from './encode-error.ts'
import { ContentEncoder } from './encode-stream.ts'
import { parseCountRequest, parseRequest } from './parse-request.ts'

/**
 * `{gemini prefix}/v1beta/models/{model}:generateContent`: an answer of a provider of the same format is passed on, every
 * other one is translated.
 */
export const geminiServer: ChatServer = {
  id: 'gemini-content',
  parse: (body, context) => parseRequest(body, context, false),
  encodeReply: toContentReply,
  openStream: answered => openEncoder(answered, EVENTS),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    EVENTS.write(JSON.stringify(toGoogleError(fault, requestId, baseUrl)), true),
  // Some clients of the format take a comment for an answer, and none a line of nothing.
  keepAlive: '\r\n',
  // What was cut says so in its last chunk.
  cutNote: '',
}

/** `:streamGenerateContent?alt=sse`. */
export const geminiEvents: ChatServer = {
  ...geminiServer,
  parse: (body, context) => parseRequest(body, context, true),
}

/** `:streamGenerateContent` without more: one list, of which elements arrive as they are made. */
export const geminiList: ChatServer = {
  ...geminiEvents,
  openStream: answered => openEncoder(answered, LIST),
  encodeStreamFault: (fault, requestId, baseUrl) =>
    `${LIST.write(JSON.stringify(toGoogleError(fault, requestId, baseUrl)), true)}${LIST.end}`,
  streamType: 'application/json; charset=utf-8',
  // Between the elements of a list there may be room.
  keepAlive: ' ',
}

/** `:countTokens`. */
export const geminiCount: CountFormat = {
  server: geminiServer,
  parse: parseCountRequest,
  encode: totalTokens => ({ totalTokens }),
}

/** How the chunks of a stream are set apart. */
interface Form {
  write(json: string, isFirst: boolean): string
  readonly end: string
  /** Providers send their streams in this form. */
  readonly isProviders: boolean
}

const EVENTS: Form = { write: json => `data: ${json}\r\n\r\n`, end: '', isProviders: true }
const LIST: Form = {
  write: (json, isFirst) => (isFirst ? `[${json}` : `,\r\n${json}`),
  end: ']',
  isProviders: false,
}
/** What the gateway has to see. */
const READ = /"(?:finishReason|functionCall|error|promptFeedback)"/
const END_OF_EVENT = /\n\r?\n$/

function toContentReply(answered: Answered, answer: PlainAnswer, bill: Bill): Buffer {
  if (answered.format === 'gemini-content') return answer.bytes
  const reply = { ...answer.reply, usage: bill.usage }
  return Buffer.from(JSON.stringify(encodeReply(reply, toEnvelope(answered), toShown(answered))))
}

function toEnvelope({ requestId, created, model }: Answered): ReplyEnvelope {
  return { id: requestId, created, model }
}

function toShown({ call }: Answered): { thoughts: boolean } {
  return { thoughts: call.showsReasoning === true }
}

function openEncoder(answered: Answered, form: Form): StreamEncoder {
  return answered.format === 'gemini-content'
    ? new PassedStream(answered, form)
    : new TranslatedStream(answered, form)
}

/** Chunks in either form. */
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
    return this.end([JSON.stringify(toGoogleError(fault, requestId, baseUrl))])
  }
}

/** What another format said, in this one's chunks. */
class TranslatedStream implements StreamEncoder {
  readonly #encoder: ContentEncoder
  readonly #out: ChunkWriter

  constructor(answered: Answered, form: Form) {
    this.#encoder = new ContentEncoder(toEnvelope(answered), toShown(answered))
    this.#out = new ChunkWriter(form)
  }

  canPass(): boolean {
    return false
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
    return this.#out.encodeFault(...fault)
  }
}

/** The provider's own chunks, but for the last ones, which wait for the record. */
class PassedStream implements StreamEncoder {
  readonly #answered: Answered
  readonly #form: Form
  readonly #out: ChunkWriter
  readonly #held: string[] = []

  constructor(answered: Answered, form: Form) {
    this.#answered = answered
    this.#form = form
    this.#out = new ChunkWriter(form)
  }

  /** Whole events that only say more. */
  canPass(chunk: Buffer): boolean {
    if (!this.#form.isProviders || this.#held.length > 0) return false
    const text = chunk.toString('latin1')
    return text.includes('"candidates"') && END_OF_EVENT.test(text.slice(-3)) && !READ.test(text)
  }

  encode(events: readonly StreamEvent[], { data }: UpstreamEvent): string {
    const isLast = events.some(event => event.type === 'delta' && event.finishReason !== undefined)
    if (!isLast && this.#held.length === 0) return this.#out.write(data)
    this.#held.push(data)
    return ''
  }

  finish({ finishReason, isFinishSent, bill, isCut }: StreamEnd): string {
    if (isFinishSent) return this.#out.end(this.#held)
    const content = { parts: [{ text: '' }], role: 'model' }
    const candidate = { content, finishReason: toFinishReason(finishReason), index: 0 }
    const last = encodeChunk([candidate], toEnvelope(this.#answered), bill.usage)
    return this.#out.end([...this.#held, JSON.stringify(isCut ? withCutNote(last) : last)])
  }

  encodeFault(...fault: Parameters<ChunkWriter['encodeFault']>): string {
    return this.#out.encodeFault(...fault)
  }
}

/** Why the answer ends here, where the format has a place for it. */
function withCutNote(chunk: JsonObject): JsonObject {
  const candidates = chunk.candidates as JsonObject[]
  const finishMessage = 'budget_exceeded: a limit of tokens or spend ended this answer'
  return { ...chunk, candidates: candidates.map(candidate => ({ ...candidate, finishMessage })) }
}
